-- Rows that a model should make of the given ones and does not, and those that
-- it makes and should not.
with

{{ given }}

actual as (

{{ model }}

),

expected as (

{{ expected }}

),

lacking as (

    select {{ columns }} from expected
    except all
    select {{ columns }} from actual

),

needless as (

    select {{ columns }} from actual
    except all
    select {{ columns }} from expected

)

select
    true as "(is expected)",
    *
from lacking
union all
select
    false as "(is expected)",
    *
from needless
order by all

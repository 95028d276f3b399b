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

compared as (

    select
        1 as expected_minus_actual,
        {{ columns }}
    from expected

    union all

    select
        -1 as expected_minus_actual,
        {{ columns }}
    from actual

)

select
    sum(expected_minus_actual) > 0 as "(is expected)",
    {{ columns }}
from compared
group by {{ columns }}
having sum(expected_minus_actual) != 0
order by all

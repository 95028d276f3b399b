-- Expected rows that the model did not return, and returned rows that were not
-- expected.
with actual as (

{{ actual }}

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

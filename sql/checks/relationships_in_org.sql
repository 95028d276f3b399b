-- Values that the other model does not contain for the same organisation. NULL
-- refers to nothing.
with

child as (

    select
        org_id,
        {{ column_name }} as from_field,
        count(*) as row_count
    from {{ model }}
    where {{ column_name }} is not null
    group by 1, 2

),

parent as (

    select
        org_id,
        {{ field }} as to_field
    from {{ relation }}
    group by 1, 2

)

select
    child.org_id,
    child.from_field,
    child.row_count
from child
left join parent
    on child.org_id = parent.org_id
    and child.from_field = parent.to_field
where parent.to_field is null

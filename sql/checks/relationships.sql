-- Values that the other model does not contain. NULL refers to nothing.
with

child as (

    select
        {{ column_name }} as from_field,
        count(*) as row_count
    from {{ model }}
    where {{ column_name }} is not null
    group by 1

),

parent as (

    select {{ field }} as to_field
    from {{ relation }}
    group by 1

)

select
    child.from_field,
    child.row_count
from child
left join parent
    on child.from_field = parent.to_field
where parent.to_field is null

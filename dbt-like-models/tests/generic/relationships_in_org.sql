{% test relationships_in_org(model, column_name, to, field) %}

select
    child.org_id,
    child.{{ column_name }} as from_field,
    count(*) as row_count
from {{ model }} as child
left join (
    select
        org_id,
        {{ field }} as to_field
    from {{ to }}
    group by 1, 2
) as parent
    on child.org_id = parent.org_id
    and child.{{ column_name }} = parent.to_field
where
    child.{{ column_name }} is not null
    and parent.to_field is null
group by 1, 2

{% endtest %}

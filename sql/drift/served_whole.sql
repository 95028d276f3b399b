-- Some whole objects of one kind, no longer than needed.
select
    {{ object }} as object,
    org_id,
    activity_date,
    place,
    cast(null as varchar) as key,
    left(json_extract_string(object, '$'), 1000) as text,
    json_type(object) as type,
    case json_type(object)
        when 'VARCHAR' then length(json_extract_string(object, '$'))
        when 'ARRAY' then json_array_length(object)
    end as length
from (
{{ objects }}
) as objects
where list_contains({{ places }}, place)

-- Some objects of one kind themselves, no longer than it is of use.
select
    {{ object }} as object,
    activity_date,
    place,
    '' as key,
    left(cast(object as varchar), 101) as value,
    left(json_extract_string(object, '$'), 1000) as text,
    json_type(object) as type
from (
{{ objects }}
) as objects
where list_contains({{ places }}, place)

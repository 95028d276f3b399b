-- The values of some keys of some objects of one kind, no longer than needed.
select
    {{ object }} as object,
    org_id,
    activity_date,
    place,
    key,
    left(text, 1000) as text,
    type,
    case type
        when 'VARCHAR' then length(text)
        when 'ARRAY' then json_array_length(value)
    end as length
from (
    select
        org_id,
        activity_date,
        place,
        unnest({{ keys }}) as key,
        unnest(json_extract(object, {{ pointers }})) as value,
        unnest(json_extract_string(object, {{ pointers }})) as text,
        unnest(json_type(object, {{ pointers }})) as type
    from (
        -- no filter, because it would gather large objects before they are read
        select
            org_id,
            activity_date,
            place,
            case when list_contains({{ places }}, place) then object end
                as object
        from (
{{ objects }}
        ) as all_objects
    ) as objects
) as served
where type is not null

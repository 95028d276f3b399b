-- Differences from the documentation by the shapes, with the first object of each.
-- The key is NULL for the object itself; a field may have an empty name.
create or replace temp table candidates as
with

documented as (

    select * from expected
    where resource = {{ resource }}

),

fields as (

    select
        object,
        org_id,
        activity_date,
        place,
        unnest(keys) as key,
        unnest(types) as type,
        unread,
        inexact,
        objects
    from shapes

),

met as (

    select
        fields.*,
        documented.field,
        documented.type as expected,
        documented.bit
    from fields
    left join documented
        on documented.object = fields.object
        and documented.field <> ''
        and (documented.field = fields.key or documented.field = '*')

),

strange as (

    select
        object,
        org_id,
        activity_date,
        place,
        key,
        expected,
        case
            when expected is null then object || '.' || field_name(key)
            else object || '.' || field
        end as path,
        case when expected is null then 'unknown' end as kind,
        type,
        objects
    from met
    where expected is null
        or type <> 'NULL' and expected <> 'any' and (
            not list_contains(accepted_types(expected), type)
            or field = '*' and expected in ('integer', 'number')
            or expected in ('integer', 'decimal', 'number')
            and ((unread | inexact) >> bit) & 1 = 1
        )

),

elements as (

    select
        shapes.object,
        shapes.org_id,
        shapes.activity_date,
        shapes.place,
        cast(null as varchar) as key,
        coalesce(documented.type, 'object') as expected,
        shapes.object as path,
        cast(null as varchar) as kind,
        shapes.own_type as type,
        shapes.objects
    from shapes
    left join documented
        on documented.object = shapes.object
        and documented.field = ''
    where shapes.own_type is null
        or shapes.own_type <> 'NULL'
        and coalesce(documented.type, 'object') <> 'any'
        and not list_contains(
            accepted_types(coalesce(documented.type, 'object')),
            shapes.own_type
        )

),

missing as (

    select
        shapes.object,
        shapes.org_id,
        shapes.activity_date,
        shapes.place,
        documented.field as key,
        documented.type as expected,
        shapes.object || '.' || documented.field as path,
        'missing' as kind,
        cast(null as varchar) as type,
        shapes.objects
    from shapes
    inner join documented on documented.object = shapes.object
    where documented.is_promised
        and not documented.is_key
        and shapes.own_type = 'OBJECT'
        and not list_contains(shapes.keys, documented.field)

),

unnamed as (

    select
        shapes.object,
        shapes.org_id,
        shapes.activity_date,
        shapes.place,
        documented.field as key,
        documented.type as expected,
        shapes.object || '.' || documented.field as path,
        'unnamed' as kind,
        cast(null as varchar) as type,
        shapes.objects
    from shapes
    inner join (
        select
            object,
            max(field) as field,
            max_by(type, field) as type
        from documented
        where is_key
        group by 1
    ) as documented on documented.object = shapes.object
    where shapes.is_unnamed and shapes.own_type = 'OBJECT'

),

found as (

    select * from strange

    union all

    select * from elements

    union all

    select * from missing

    union all

    select * from unnamed

)

-- several of each path, because the first may have another type than the next
select
    *,
    sum(objects) over (partition by org_id, activity_date, path, kind) as occurrences
from found
qualify row_number() over (
    partition by org_id, activity_date, path, kind
    order by place
) <= 5

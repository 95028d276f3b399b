-- What the shapes say is not as documented, the first object of each. The key is
-- empty for the object itself.
create or replace temp table suspects as
with

documented as (

    select * from expected
    where resource = {{ resource }}

),

fields as (

    select
        object,
        activity_date,
        place,
        unnest(keys) as key,
        unnest(types) as type,
        unread,
        inexact
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
        and (documented.field = fields.key or documented.field = '*')

),

strange as (

    select
        object,
        activity_date,
        place,
        key,
        expected,
        case
            when expected is null then object || '.' || (
                case
                    when regexp_full_match(key, '[A-Za-z_][A-Za-z0-9_-]*')
                    then key
                    else cast(to_json(key[1:100]) as varchar)
                end
            )
            else object || '.' || field
        end as path,
        false as is_missing
    from met
    where expected is null
        or type <> 'NULL' and (
            not list_contains(accepted_types(expected), type)
            or field = '*'
            or expected in ('integer', 'number')
            and ((unread | inexact) >> bit) & 1 = 1
        )

),

elements as (

    select
        shapes.object,
        shapes.activity_date,
        shapes.place,
        '' as key,
        coalesce(documented.type, 'object') as expected,
        shapes.object as path,
        false as is_missing
    from shapes
    left join documented
        on documented.object = shapes.object
        and documented.field = ''
    where shapes.own_type is null
        or shapes.own_type <> 'NULL' and not list_contains(
            accepted_types(coalesce(documented.type, 'object')),
            shapes.own_type
        )

),

missing as (

    select
        shapes.object,
        shapes.activity_date,
        shapes.place,
        documented.field as key,
        documented.type as expected,
        shapes.object || '.' || documented.field as path,
        true as is_missing
    from shapes
    inner join documented on documented.object = shapes.object
    where documented.is_promised
        and shapes.own_type = 'OBJECT'
        and not list_contains(shapes.keys, documented.field)

),

found as (

    select * from strange

    union all

    select * from elements

    union all

    select * from missing

)

-- a few of each path, for the first may be of another kind than the next
select * from found
qualify row_number() over (
    partition by activity_date, path, is_missing
    order by place
) <= 5

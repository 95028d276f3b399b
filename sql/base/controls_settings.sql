-- One row per org, day, revision of `enterprise_controls` and leaf of its
-- `settings`: text, number, boolean, null, a list of those, and what is empty.
-- Objects in a list are named by what they are, not by their position. Values
-- nested deeper than 64 levels are one leaf: each level copies those below it.
with recursive

latest as (

    select
        org_id,
        activity_date,
        to_count(item.revision) as revision,
        item.settings,
        fetched_at
    from parsed
    where json_type(item.settings) = 'OBJECT'
    qualify revision is null or row_number() over (
        partition by org_id, activity_date, revision
        order by place desc
    ) = 1

),

nodes as (

    select
        org_id,
        activity_date,
        revision,
        '' as settings_path,
        settings as node,
        settings_below('', settings) as below,
        1 as depth,
        fetched_at
    from latest

    union all

    select
        org_id,
        activity_date,
        revision,
        settings_path || child.step as settings_path,
        child.node,
        case
            when depth < 64
            then settings_below(settings_path || child.step, child.node)
        end as below,
        depth + 1 as depth,
        fetched_at
    from (
        select
            * exclude (node, below),
            unnest(below) as child
        from nodes
    )

),

leaves as (

    select
        org_id,
        activity_date,
        revision,
        settings_path,
        case
            when node is null then 'null'
            when is_settings_set(settings_path) then sorted_set(node)
            -- 30.0 after 30 is no change.
            when json_type(node) = 'DOUBLE'
            then coalesce(
                cast(to_count(cast(node as varchar)) as varchar),
                cast(node as varchar)
            )
            else cast(node as varchar)
        end as value_json,
        fetched_at
    from nodes
    where settings_path != '' and coalesce(len(below), 0) = 0

)

-- A repeated key of an object is one setting.
select
    org_id,
    activity_date,
    revision,
    settings_path,
    max(value_json) as value_json,
    regexp_matches(
        max(value_json), '\[redacted:[0-9a-f]{8}\]'
    ) as is_redacted,
    max(fetched_at) as fetched_at
from leaves
group by 1, 2, 3, 4

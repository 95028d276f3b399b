-- The keys of one base entity whose values differ between versions. The
-- statement treats each version as an organisation.
insert into served by name
with

entries as materialized (

    select
        entries.activity_date,
        versions.number,
        versions.versions,
        {{ key }} as entity_key,
        {{ metrics }}
    from (
{{ select }}
    ) as entries
    inner join versions
        on versions.activity_date = entries.activity_date
        and versions.file = entries.org_id

),

restated as (

    select
        activity_date,
        entity_key,
        count(*) <> count(distinct number) as is_repeated
    from entries
    group by 1, 2
    having count(*) <> min(versions)
        or count(distinct number) <> min(versions)
        or min(row({{ names }})) is distinct from max(row({{ names }}))

),

texts as (

    select
        entries.activity_date,
        entries.number,
        entries.entity_key,
        restated.is_repeated,
        cast(columns(entries.* exclude (
            activity_date, number, versions, entity_key
        )) as varchar)
    from entries
    inner join restated
        on restated.activity_date = entries.activity_date
        and restated.entity_key = entries.entity_key

)

from texts
unpivot (value for metric in ({{ names }}))

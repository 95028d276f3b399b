-- What the versions say of the keys of one base entity that are not the same in
-- all of them. The statement reads each version as an organisation of its own.
insert into served by name
with

entries as materialized (

    select
        activity_date,
        org_id as file,
        {{ key }} as entity_key,
        {{ metrics }}
    from (
{{ select }}
    )

),

restated as (

    select
        entries.activity_date,
        entries.entity_key
    from entries
    inner join versions
        on versions.activity_date = entries.activity_date
        and versions.file = entries.file
    group by 1, 2
    having count(*) <> min(versions.versions)
        or count(distinct entries.file) <> min(versions.versions)
        or min(row({{ names }})) is distinct from max(row({{ names }}))

),

texts as (

    select
        activity_date,
        file,
        entity_key,
        cast(
            columns(* exclude (activity_date, file, entity_key)) as varchar
        )
    from entries
    semi join restated using (activity_date, entity_key)

)

from texts
unpivot (value for metric in ({{ names }}))

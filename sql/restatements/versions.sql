-- The versions of the days, numbered by age from 1, and a place for what they say.
create or replace temp table versions as
select
    version.activity_date,
    version.file,
    version.number,
    version.versions,
    version.fetched_at
from (
    select unnest(
        from_json(
            cast($rows as varchar),
            '[{
                "activity_date": "DATE",
                "file": "VARCHAR",
                "number": "BIGINT",
                "versions": "BIGINT",
                "fetched_at": "TIMESTAMPTZ"
            }]'
        )
    ) as version
)

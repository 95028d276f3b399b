-- The days of one resource that a base month has to build again.
create or replace temp table base_days as
select
    day.activity_date,
    day.made_from
from (
    select unnest(
        from_json(
            cast($rows as varchar),
            '[{
                "activity_date": "DATE",
                "made_from": "VARCHAR"
            }]'
        )
    ) as day
)

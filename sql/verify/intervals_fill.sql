insert into verify.intervals
select
    row.org_id,
    row.resource,
    row.activity_date,
    row.is_landed
from (
    select unnest(
        from_json(
            cast($rows as varchar),
            '[{
                "org_id": "VARCHAR",
                "resource": "VARCHAR",
                "activity_date": "DATE",
                "is_landed": "BOOLEAN"
            }]'
        )
    ) as row
)

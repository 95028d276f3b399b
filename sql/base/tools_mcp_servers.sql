-- One row per entry of `mcp_by_server`, repeated entries too.
with

newest as (

    select
        org_id,
        activity_date,
        page,
        ordinal
    from raw
    qualify row_number() over (
        partition by org_id, activity_date
        order by page desc, ordinal desc
    ) = 1

),

days as (

    select
        org_id,
        activity_date,
        page,
        ordinal,
        read_item(item, '{
            "mcp_by_server": [{
                "server": "VARCHAR",
                "invocations": "VARCHAR"
            }]
        }') as day,
        fetched_at
    from raw

),

entries as (

    select
        org_id,
        activity_date,
        page,
        ordinal,
        unnest(day.mcp_by_server) as entry,
        fetched_at
    from days

),

final as (

    select
        org_id,
        activity_date,
        entry.server,
        folded(entry.server) as server_key,
        to_count(entry.invocations) as invocations,
        fetched_at
    from entries
    semi join newest using (org_id, activity_date, page, ordinal)
    where
        entry.server is not null
        or entry.invocations is not null

)

select * from final

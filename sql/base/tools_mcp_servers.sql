-- One row per entry of `mcp_by_server`, repeated entries too.
with

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
    semi join newest_rows() using (org_id, activity_date, page, ordinal)
    where
        entry.server is not null
        or entry.invocations is not null

)

select * from final

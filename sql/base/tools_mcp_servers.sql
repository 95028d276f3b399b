-- One row per entry of `mcp_by_server`, repeated entries too.
with

entries as (

    select
        org_id,
        activity_date,
        unnest(item.mcp_by_server) as entry,
        fetched_at
    from parsed

)

select
    org_id,
    activity_date,
    entry.server,
    folded(entry.server) as server_key,
    to_count(entry.invocations) as invocations,
    fetched_at
from entries
where
    entry.server is not null
    or entry.invocations is not null

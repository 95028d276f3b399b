-- One row per org, day, computer and sample of `computer_metrics`; a later one
-- wins. The computer is the one that was asked for.
with

samples as (

    select
        org_id,
        activity_date,
        page,
        ordinal,
        asked_for(request, 'computers') as computer_id,
        read_item(item, '{
            "timestamp": "VARCHAR",
            "cpuUsedPct": "VARCHAR",
            "cpuCount": "VARCHAR",
            "memUsed": "VARCHAR",
            "memTotal": "VARCHAR",
            "diskUsed": "VARCHAR",
            "diskTotal": "VARCHAR"
        }') as sample,
        fetched_at
    from raw

),

typed as (

    select
        org_id,
        activity_date,
        page,
        ordinal,
        computer_id,
        to_time(sample.timestamp) as sampled_at,
        to_ratio(sample.cpuUsedPct) as cpu_used_pct,
        to_ratio(sample.cpuCount) as cpu_count,
        to_ratio(sample.memUsed) as mem_used,
        to_ratio(sample.memTotal) as mem_total,
        to_ratio(sample.diskUsed) as disk_used,
        to_ratio(sample.diskTotal) as disk_total,
        fetched_at
    from samples

),

final as (

    select * exclude (page, ordinal)
    from typed
    qualify sampled_at is null or row_number() over (
        partition by org_id, activity_date, computer_id, sampled_at
        order by fetched_at desc, page desc, ordinal desc
    ) = 1

)

select * from final

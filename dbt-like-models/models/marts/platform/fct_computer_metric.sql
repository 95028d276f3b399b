with

samples as (

    select * from {{ ref('stg_platform__computer_metrics') }}

),

ranked as (

    select
        *,
        row_number() over (
            partition by org_id, computer_id, sampled_at
            order by fetched_at desc, activity_date desc
        ) as landing_rank
    from samples
    where computer_id is not null and sampled_at is not null

),

final as (

    select
        org_id,
        computer_id,
        sampled_at,
        cast(sampled_at as date) as sample_date,
        cpu_used_pct,
        cpu_count,
        mem_used,
        mem_total,
        disk_used,
        disk_total
    from ranked
    where landing_rank = 1

)

select * from final

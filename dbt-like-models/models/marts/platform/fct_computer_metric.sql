with

samples as (

    {{ last_landed('stg_platform__computer_metrics', ['computer_id', 'sampled_at']) }}

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
    from samples

)

select * from final

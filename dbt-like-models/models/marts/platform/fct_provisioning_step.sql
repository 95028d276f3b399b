with

-- A day on which the computer reported no steps counts as well.
last_dates as (

    select
        org_id,
        computer_id,
        max(activity_date) as last_date
    from {{ ref('stg_platform__computers') }}
    group by 1, 2

),

named as (

    select
        steps.*,
        coalesce(steps.step_id, steps.step_name, '(unnamed)') as step_key,
        last_dates.last_date
    from {{ ref('stg_platform__computer_steps') }} as steps
    inner join last_dates using (org_id, computer_id)

),

ranked as (

    select
        *,
        row_number() over (
            partition by org_id, computer_id, step_key, started_at
            order by
                activity_date desc,
                completed_at desc nulls last,
                status asc nulls last,
                error asc nulls last,
                install_session_id asc nulls last
        ) as entry_rank
    from named
    where started_at is not null or activity_date = last_date

),

final as (

    select
        org_id,
        computer_id,
        step_key as step_id,
        step_name,
        status,
        error,
        started_at,
        completed_at,
        install_session_id,
        activity_date as last_seen_date,
        activity_date = last_date as is_current
    from ranked
    where entry_rank = 1

)

select * from final

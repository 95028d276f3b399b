with

history as (

    select * from {{ ref('dim_user_history') }}
    where is_current

),

active as (

    select
        org_id,
        user_id,
        min(first_active_date) as first_active_date,
        max(last_active_date) as last_active_date,
        {{ sum_of_counts('active_days') }} as active_days
    from {{ ref('int_user_months') }}
    group by 1, 2

),

spending as (

    select distinct
        org_id,
        user_id
    from {{ ref('int_spend_months') }}

),

final as (

    select
        org_id,
        user_id,
        history.user_email,
        coalesce(history.user_email, user_id) as user_label,
        history.team,
        history.cost_centre,
        active.first_active_date,
        active.last_active_date,
        coalesce(active.active_days, 0) as active_days
    from active
    full outer join spending using (org_id, user_id)
    left join history using (org_id, user_id)

)

select * from final

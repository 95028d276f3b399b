with

user_months as (

    select * from {{ ref('int_user_months') }}

),

consumer_months as (

    select * from {{ ref('int_consumer_months') }}

),

history as (

    select * from {{ ref('dim_user_history') }}

),

active as (

    select
        org_id,
        user_id,
        min(first_date) as first_active_date,
        max(last_date) as last_active_date,
        {{ sum_of_counts('active_days') }} as active_days
    from user_months
    group by 1, 2

),

consuming as (

    select
        org_id,
        user_id
    from consumer_months
    where first_part_date is not null
    group by 1, 2

),

members as (

    select
        org_id,
        user_id,
        first_active_date,
        last_active_date,
        active_days
    from active

    union all

    select
        consuming.org_id,
        consuming.user_id,
        cast(null as date) as first_active_date,
        cast(null as date) as last_active_date,
        cast(0 as bigint) as active_days
    from consuming
    left join active
        on consuming.org_id = active.org_id
        and consuming.user_id = active.user_id
    where active.user_id is null

),

final as (

    select
        members.org_id,
        members.user_id,
        history.user_email,
        coalesce(history.user_email, members.user_id) as user_label,
        history.team,
        history.cost_centre,
        members.first_active_date,
        members.last_active_date,
        members.active_days
    from members
    left join history
        on members.org_id = history.org_id
        and members.user_id = history.user_id
        and history.is_current

)

select * from final

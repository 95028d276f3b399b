with

memberships as (

    select
        org_id,
        activity_date,
        case
            when count(*) = count(daily_active_users)
            then {{ sum_of_counts('daily_active_users') }}
        end as client_memberships,
        count(case when daily_active_users > 0 then 1 end) as active_clients
    from {{ ref('fct_client_day') }}
    group by 1, 2

),

differences as (

    select
        org_id,
        activity_date,
        days.daily_active_users,
        memberships.client_memberships,
        memberships.active_clients,
        {{ difference_of_counts(
            'memberships.client_memberships', 'days.daily_active_users'
        ) }} as extra
    from memberships
    left join {{ ref('stg_platform__activity_days') }} as days
        using (org_id, activity_date)

),

bounds as (

    select
        *,
        case
            when active_clients <= 1 then cast(0 as bigint)
            when active_clients = 2 then extra
            else {{ ceiling_of_counts('extra', 'active_clients - 1') }}
        end as at_least,
        least(extra, daily_active_users) as at_most
    from differences

),

-- If the bounds contradict each other, no number lies between them. The
-- reconciliation has the two numbers of the API that contradict each other.
final as (

    select
        org_id,
        activity_date,
        daily_active_users,
        client_memberships,
        active_clients,
        {% for column, bound in [['at_least', 'min'], ['at_most', 'max']] %}
        case when extra >= 0 and at_least <= at_most then {{ column }} end
            as multi_client_users_{{ bound }}{{ ',' if not loop.last }}
        {% endfor %}
    from bounds

)

select * from final

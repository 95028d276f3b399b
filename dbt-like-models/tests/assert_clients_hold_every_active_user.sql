-- Days whose clients have fewer users in all than were active, or where one
-- client has more than were active at all.
{{ config(severity='warn') }}

with

overlaps_of_days as (

    select * from {{ ref('fct_client_overlap_day') }}

),

largest_clients as (

    select
        org_id,
        activity_date,
        max(daily_active_users) as largest
    from {{ ref('fct_client_day') }}
    group by 1, 2

),

final as (

    select
        overlaps_of_days.org_id,
        overlaps_of_days.activity_date,
        overlaps_of_days.daily_active_users,
        overlaps_of_days.client_memberships,
        largest_clients.largest
    from overlaps_of_days
    inner join largest_clients
        on overlaps_of_days.org_id = largest_clients.org_id
        and overlaps_of_days.activity_date = largest_clients.activity_date
    where
        overlaps_of_days.client_memberships
        < overlaps_of_days.daily_active_users
        or largest_clients.largest > overlaps_of_days.daily_active_users

)

select * from final

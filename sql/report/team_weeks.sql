-- Weeks in which fewer than five people of a team were active have no row, and
-- no total reveals their number.
with
    weeks as (
        select
            org_id,
            cast(date_trunc('week', activity_date) as date) as week_start_date,
            team,
            user_id,
            1 / count(*) over (partition by org_id, week_start_date, user_id) as part
        from user_days
        group by 1, 2, 3, 4
    ),

    teams as (
        select
            org_id,
            week_start_date,
            team,
            count(*) as active_users,
            hides((org_id, week_start_date), count(*), sum(part), team) as is_hidden
        from weeks
        group by 1, 2, 3
    )

select
    org_id,
    cast(week_start_date as varchar) as week,
    team,
    active_users
from teams
inner join whole_weeks using (org_id, week_start_date)
where not is_hidden
order by all

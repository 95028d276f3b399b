-- At most 50 points on the curve of each of the last three months, each for
-- five people or more. A month without credits, or in which a person has credits
-- below zero, has no curve.
with
    points as (
        select
            org_id,
            month_start_date,
            user_rank,
            user_count,
            cumulative_share,
            cast(
                ceil(least(50, user_count // 5) * user_rank / user_count) as integer
            ) as point
        from main.mart_spend_pareto
        inner join chosen using (org_id)
        where
            user_count >= 10
            and month_start_date
            >= cast(date_trunc('month', last_day) - interval 2 month as date)
    )

select
    org_id,
    strftime(month_start_date, '%Y-%m') as month,
    round(max(user_rank) / max(user_count), 4) as share_of_users,
    round(max(cumulative_share), 4) as share_of_credits
from points
group by org_id, month_start_date, point
qualify
    min(share_of_credits) over (partition by org_id, month_start_date) >= 0
    and max(share_of_credits) over (partition by org_id, month_start_date) <= 1
order by org_id, month_start_date, share_of_users

-- What does each team consume, compared with the same days of last month?
-- The month so far, by the team of each day. The comparison has only the days
-- whose credits are known in both months. `(no team)` has the credits of users
-- without a team, `(unattributed)` those that no user accounts for.
select
    org_id,
    month_start_date,
    member as team,
    billable_tokens as credits,
    round(100 * share_of_month, 1) as percent,
    compared_days,
    compared_billable_tokens as credits_compared,
    previous_billable_tokens as credits_before,
    round(
        100.0
        * (
            compared_billable_tokens
            - previous_billable_tokens
        )
        / nullif(previous_billable_tokens, 0),
        1
    ) as change_percent
from main.mart_spend_month
qualify month_start_date = max(month_start_date) over (partition by org_id)
    and dimension = 'team'
order by 1, 4 desc nulls last, 3

-- Who has reached their credit limit this month, or will?
-- Users whose credits, projected to the end of the month in a straight line,
-- exceed their own limit or the global one. The platform does not say which
-- period a limit is for; it is compared with a calendar month. The result is
-- empty if no limit is known, or if all users stay below theirs.
select
    org_id,
    month_start_date,
    user_label,
    limit_scope,
    effective_limit,
    billable_tokens as credits,
    round(share_of_limit, 3) as share_of_limit,
    forecast_billable_tokens as forecast_credits,
    is_exceeded
from main.mart_limit_usage
qualify month_start_date = max(month_start_date) over (partition by org_id)
    and will_exceed
order by 1, share_of_limit desc, 3

-- What was used although it is not allowed, and what is allowed and never used?
-- Each day is judged by the settings of that day; policies that restrict
-- nothing have no lines.
-- Empty where no policy restricts anything, and where practice keeps to it.
select
    org_id,
    policy,
    value,
    is_allowed,
    forbidden_use_days,
    first_forbidden_use_date,
    last_forbidden_use_date,
    since,
    coalesce(actor_email, actor_name, actor_id) as actor
from main.mart_policy_usage
where forbidden_use_days > 0
    or (is_allowed and not is_used and policy != 'denied_commands')
order by 1, 5 desc, 2, 3

-- What was used without being allowed, and what is allowed but never used?
-- Each day is judged by the settings of that day. Policies that restrict
-- nothing have no lines. The result is empty if no policy restricts anything,
-- or if use matches the policies.
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

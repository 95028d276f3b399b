-- First values that are used and not allowed, or were not when they were used;
-- then allowed values without use. That a command was not used is not known: only
-- those of hooks are served.
select
    org_id,
    policy,
    value,
    case
        when forbidden_use_days = 0 then 'unused'
        when is_allowed then 'allowed_since'
        else 'not_allowed'
    end as status,
    forbidden_use_days,
    cast(forbidden_amount as double) as forbidden_amount,
    cast(last_forbidden_use_date as varchar) as last_forbidden_use,
    cast(cast(since as date) as varchar) as since,
    if(names_people, coalesce(actor_name, actor_email, actor_id), null) as changed_by
from main.mart_policy_usage
inner join chosen using (org_id)
where forbidden_use_days > 0 or (is_allowed and not is_used and policy <> 'denied_commands')
order by org_id, forbidden_use_days desc, policy, value

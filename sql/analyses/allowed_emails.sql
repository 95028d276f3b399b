-- Who is allowed computers and no longer uses the agent, or is from elsewhere?
-- Addresses of the allow-lists whose user was not active for 28 days, and
-- active users from a domain of which the list names no address. The platform
-- does not say who uses a computer: the latter break no rule.
-- Empty where no list names an address, and where all of them are in use.
select
    org_id,
    allow_list,
    email,
    case
        when is_listed then 'listed, ' || replace(status, '_', ' ')
        else 'active, domain not listed'
    end as finding,
    last_active_date
from main.mart_allowed_emails
where (is_listed and status != 'active')
    or (not is_listed and not is_domain_listed)
order by 1, 2, 4, 3

-- Who may use computers but is idle, and who is active from another domain?
-- Addresses on the allow-lists whose user was not active for 28 days, and
-- active users from a domain that is not on the list. The platform does not say
-- who uses a computer, so the latter break no rule. The result is empty if no
-- list has an address, or if all addresses are in use.
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

-- Counts for each list of the latest settings: its addresses, and active users
-- who are not on it.
select
    org_id,
    allow_list,
    count_if(is_listed) as listed,
    count_if(is_listed and status = 'active') as listed_active,
    count_if(is_listed and status = 'idle') as listed_idle,
    count_if(is_listed and status = 'never_active') as listed_never,
    count_if(not is_listed) as not_listed,
    count_if(not is_listed and not is_domain_listed) as other_domain
from main.mart_allowed_emails
inner join chosen using (org_id)
group by 1, 2
order by 1, 2 desc

-- The first 100 active users who are not on a list, those of an unlisted domain
-- first. Only with --people.
select
    org_id,
    allow_list,
    email,
    is_domain_listed,
    active_days_28d as active_days
from main.mart_allowed_emails
inner join chosen using (org_id)
where not is_listed and names_people
qualify
    row_number() over (
        partition by org_id
        order by is_domain_listed, active_days_28d desc, allow_list, email
    ) <= 100
order by org_id, is_domain_listed, active_days_28d desc, allow_list, email

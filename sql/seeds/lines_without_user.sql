-- Records of teams.csv whose user the platform has never served, by the id or
-- by any e-mail address that a user has or had.
select record
from ({{ texts }}) as lines
where not exists (
    select 1
    from main.dim_user_history as users
    where
        users.org_id = coalesce(lines.org_id, users.org_id)
        and (
            users.user_id = lines.user
            or lower(users.user_email) = lower(lines.user)
        )
)
order by record

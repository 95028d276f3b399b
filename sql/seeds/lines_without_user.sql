-- Records of teams.csv whose user the platform has never served, by the id or by any e-mail
-- address that a user has or had; without an organisation, in any of them. Each join compares
-- equal values alone: alternatives in one condition would compare every line with every user.
with
    users as (
        select
            unnest([org_id, '*']) as organisation,
            user_id,
            lower(user_email) as user_email
        from main.dim_user_history
    )

select csv_line
from {{ texts }} as lines
anti join users as ids
    on
        ids.organisation = coalesce(lines.org_id, '*')
        and ids.user_id = lines.user
anti join users as addresses
    on
        addresses.organisation = coalesce(lines.org_id, '*')
        and addresses.user_email = lower(lines.user)
order by csv_line

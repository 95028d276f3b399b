select
    coalesce(teams.org_id, '(every)') as org_id,
    teams.user as member,
    teams.valid_from,
    teams.team,
    teams.cost_centre
from {{ ref('teams') }} as teams

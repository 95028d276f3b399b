select
    org_id,
    revision,
    lag(revision) over by_revision as previous_revision,
    lead(revision) over by_revision as next_revision,
    activity_date as landed_date,
    updated_at as changed_at,
    actor_id,
    actor_email,
    actor_name
from (
    {{ last_landed(
        'stg_platform__controls_revisions', ['revision'], ['settings']
    ) }}
) as revisions
window by_revision as (partition by org_id order by revision)

-- One row per org, day, revision of `enterprise_controls`, setting that says what
-- may be used, and value of it: an element of a list, or the setting's own value.
with

latest as (

    select
        org_id,
        activity_date,
        to_count(item.revision) as revision,
        item.settings,
        fetched_at
    from parsed
    where json_type(item.settings) = 'OBJECT'
    qualify revision is null or row_number() over (
        partition by org_id, activity_date, revision
        order by place desc
    ) = 1

),

policies as (

    select
        org_id,
        activity_date,
        revision,
        unnest([
            {
                'setting': 'mcpPolicy.enabled',
                'served': [settings ->> '$.mcpPolicy.enabled']
            },
            {
                'setting': 'mcpPolicy.allowlist',
                'served': settings ->> '$.mcpPolicy.allowlist[*]'
            },
            {
                'setting': 'modelPolicy.allowedModelIds',
                'served': settings ->> '$.modelPolicy.allowedModelIds[*]'
            },
            {
                'setting': 'modelPolicy.blockedModelIds',
                'served': settings ->> '$.modelPolicy.blockedModelIds[*]'
            },
            {
                'setting': 'modelPolicy.allowAllServiceModels',
                'served': [settings ->> '$.modelPolicy.allowAllServiceModels']
            },
            {
                'setting': 'modelPolicy.allowCustomModels',
                'served': [settings ->> '$.modelPolicy.allowCustomModels']
            },
            {
                'setting': 'userModelPolicies.allowedModelIds',
                'served': settings
                    ->> '$.userModelPolicies.*.allowedModelIds[*]'
            },
            {
                'setting': 'customModels',
                'served': list_concat(
                    settings ->> '$.customModels[*].id',
                    settings ->> '$.customModels[*].model'
                )
            },
            {
                'setting': 'maxAutonomyLevel',
                'served': [settings ->> '$.maxAutonomyLevel']
            },
            {
                'setting': 'mcpAutonomyOverrides',
                'served': list_concat(
                    settings ->> '$.mcpAutonomyOverrides.*.defaultLevel',
                    settings ->> '$.mcpAutonomyOverrides.*.tools.*'
                )
            },
            {
                'setting': 'commandDenylist',
                'served': settings ->> '$.commandDenylist[*]'
            },
            {
                'setting': 'managedComputersAllowedEmails',
                'served': settings ->> '$.managedComputersAllowedEmails[*]'
            },
            {
                'setting': 'byomComputersAllowedEmails',
                'served': settings ->> '$.byomComputersAllowedEmails[*]'
            },
            {
                'setting': 'sessionRetentionDays',
                'served': [settings ->> '$.sessionRetentionDays']
            }
        ]) as policy,
        fetched_at
    from latest

),

entries as (

    select
        org_id,
        activity_date,
        revision,
        policy.setting,
        unnest(policy.served) as value,
        fetched_at
    from policies

)

select
    org_id,
    activity_date,
    revision,
    setting,
    value,
    folded(value) as value_key,
    max(fetched_at) as fetched_at
from entries
where value != ''
group by 1, 2, 3, 4, 5

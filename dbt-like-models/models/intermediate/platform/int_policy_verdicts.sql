-- The description says what allows and what forbids. If that is uncertain, the
-- value is allowed.
with

rules as (

    select
        org_id,
        revision,
        policies.setting,
        policies.value,
        policies.value_key
    from {{ ref('int_control_revisions_ordered') }} as revisions
    inner join {{ ref('stg_platform__controls_policies') }} as policies
        using (org_id, revision)
    where policies.activity_date = revisions.landed_date

),

-- A revision without any of the settings restricts nothing.
switches as (

    select
        org_id,
        revision,
        {% for name, setting, value in [
            ['is_mcp_limited', 'mcpPolicy.enabled', 'true'],
            [
                'is_any_model_allowed',
                'modelPolicy.allowAllServiceModels',
                'true',
            ],
            ['is_custom_forbidden', 'modelPolicy.allowCustomModels', 'false'],
        ] %}
        max(
            case
                when rules.setting = '{{ setting }}'
                    and rules.value = '{{ value }}'
                then 1
                else 0
            end
        ) as {{ name }},
        {% endfor %}
        count(
            case when rules.setting = 'mcpPolicy.allowlist' then 1 end
        ) as servers,
        count(
            case when rules.setting = 'modelPolicy.allowedModelIds' then 1 end
        ) as models,
        count(
            case
                when rules.setting = 'maxAutonomyLevel'
                    and rules.value in ('off', 'low', 'medium', 'high')
                then 1
            end
        ) as levels
    from {{ ref('int_control_revisions_ordered') }} as revisions
    left join rules using (org_id, revision)
    group by 1, 2

),

restrictions as (

    {% for policy, condition in [
        ['mcp_servers', 'is_mcp_limited = 1 and servers > 0'],
        ['models', 'is_any_model_allowed = 0 and models > 0'],
        ['autonomy_level', 'levels > 0'],
        ['denied_commands', 'false'],
    ] %}
    select
        org_id,
        revision,
        '{{ policy }}' as policy,
        case when {{ condition }} then 0 else 1 end as is_others_allowed
    from switches
    {{ 'union all' if not loop.last }}
    {% endfor %}

),

ranks as (

    {% for setting, level in [
        ['off', 'manual'], ['low', 'auto-low'],
        ['medium', 'auto-medium'], ['high', 'auto-high'],
    ] %}
    select
        '{{ setting }}' as highest,
        '{{ level }}' as autonomy_level,
        {{ loop.index }} as autonomy_rank
    {{ 'union all' if not loop.last }}
    {% endfor %}

),

mentions as (

    select
        org_id,
        revision,
        'mcp_servers' as policy,
        value_key as value,
        1 as is_allowed
    from rules
    where setting = 'mcpPolicy.allowlist'

    union all

    select
        org_id,
        revision,
        'models' as policy,
        rules.value,
        case
            when rules.setting = 'modelPolicy.blockedModelIds' then 0 else 1
        end as is_allowed
    from rules
    inner join switches using (org_id, revision)
    where
        rules.setting in (
            'modelPolicy.allowedModelIds',
            'modelPolicy.blockedModelIds',
            'userModelPolicies.allowedModelIds'
        )
        or (rules.setting = 'customModels' and switches.is_custom_forbidden = 0)

    union all

    select
        rules.org_id,
        rules.revision,
        'autonomy_level' as policy,
        allowed.autonomy_level as value,
        1 as is_allowed
    from rules
    inner join ranks as highest on rules.value = highest.highest
    inner join ranks as allowed
        on highest.autonomy_rank >= allowed.autonomy_rank
    where rules.setting in ('maxAutonomyLevel', 'mcpAutonomyOverrides')

    union all

    select
        org_id,
        revision,
        'denied_commands' as policy,
        trim(value) as value,
        0 as is_allowed
    from rules
    where setting = 'commandDenylist' and trim(value) != ''

),

named as (

    select
        org_id,
        revision,
        policy,
        value,
        max(is_allowed) as is_allowed
    from mentions
    group by 1, 2, 3, 4

),

policies as (

    select
        org_id,
        policy
    from restrictions
    where is_others_allowed = 0

    union

    select
        org_id,
        policy
    from named
    where is_allowed = 0

),

candidates as (

    select
        org_id,
        policy,
        value
    from named

    union

    select
        org_id,
        policy,
        value
    from {{ ref('int_policy_days') }}

),

final as (

    select
        org_id,
        policy,
        value,
        revision,
        coalesce(named.is_allowed, restrictions.is_others_allowed) = 1
            as is_allowed
    from candidates
    inner join policies using (org_id, policy)
    inner join restrictions using (org_id, policy)
    left join named using (org_id, policy, value, revision)

)

select * from final

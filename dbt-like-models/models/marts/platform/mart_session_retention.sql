with

settings as (

    select
        revisions.org_id,
        revisions.revision,
        revisions.changed_at,
        revisions.actor_id,
        revisions.actor_email,
        revisions.actor_name,
        max(
            case
                when try_cast(policies.value as double) % 1 = 0
                then try_cast(try_cast(policies.value as double) as bigint)
            end
        ) as retention_days
    from {{ ref('int_control_revisions_ordered') }} as revisions
    left join {{ ref('stg_platform__controls_policies') }} as policies
        on revisions.org_id = policies.org_id
        and revisions.revision = policies.revision
        and revisions.landed_date = policies.activity_date
        and policies.setting = 'sessionRetentionDays'
    where revisions.changed_at is not null
    group by 1, 2, 3, 4, 5, 6

),

followed as (

    select
        *,
        row_number() over by_revision as place,
        lag(retention_days) over by_revision as retention_days_before
    from settings
    window by_revision as (partition by org_id order by revision)

),

periods as (

    select
        *,
        lead(changed_at) over (
            partition by org_id
            order by revision
        ) as valid_to
    from followed
    where place = 1 or retention_days is distinct from retention_days_before

),

sessions as (

    select
        org_id,
        fetched_at,
        {{ days_between(
            'cast(updated_at as date)', 'cast(fetched_at as date)'
        ) }} as age_days
    from {{ ref('fct_session') }}

),

final as (

    select
        periods.org_id,
        periods.revision as since_revision,
        periods.retention_days,
        periods.changed_at as valid_from,
        periods.valid_to,
        count(sessions.org_id) as fetched_sessions,
        max(sessions.age_days) as oldest_session_days,
        case
            when periods.retention_days is not null
            then
                count(
                    case
                        when sessions.age_days > periods.retention_days
                        then 1
                    end
                )
        end as sessions_past_retention,
        periods.actor_id,
        periods.actor_email,
        periods.actor_name
    from periods
    left join sessions
        on periods.org_id = sessions.org_id
        and sessions.fetched_at >= periods.changed_at
        and sessions.fetched_at < coalesce(
            periods.valid_to, timestamp '9999-12-31 00:00:00'
        )
    group by
        periods.org_id,
        periods.revision,
        periods.retention_days,
        periods.changed_at,
        periods.valid_to,
        periods.actor_id,
        periods.actor_email,
        periods.actor_name

)

select * from final

with

revisions as (

    select
        org_id,
        revision,
        cast(changed_at as date) as changed_date,
        cast(changed_at - interval 1 microsecond as date) as last_date_before,
        lag(revision) over by_revision as previous_revision,
        -- the newest one may have ended, if the time of a later one is unknown
        coalesce(lead(revision) over by_revision, next_revision + 1)
            as next_revision,
        lead(cast(changed_at - interval 1 microsecond as date))
            over by_revision as last_date
    from {{ ref('int_control_revisions_ordered') }}
    where changed_at is not null
    window by_revision as (partition by org_id order by revision)

),

-- A revision applies on the day of its change and on that of the next one,
-- unless the next one is made at midnight: a value that is allowed at any moment
-- of a day is allowed on it. A forbidden value is uncertain if another, unknown
-- revision may have applied: on the first day, and if a revision is missing.
applied as (

    select
        days.org_id,
        days.activity_date,
        revisions.revision,
        case
            when revisions.next_revision > revisions.revision + 1 then 1
            when revisions.previous_revision is null
                and days.activity_date = revisions.last_date_before
            then 1
            else 0
        end as is_uncertain
    from (
        select distinct org_id, activity_date
        from {{ ref('int_policy_days') }}
    ) as days
    inner join revisions
        on
            days.org_id = revisions.org_id
            and days.activity_date >= revisions.changed_date
            and days.activity_date <= coalesce(
                revisions.last_date, date '9999-12-31'
            )

),

judged_days as (

    select
        org_id,
        policy,
        value,
        activity_date,
        days.amount,
        max(case when verdicts.is_allowed then 1 else 0 end) = 1 as is_allowed,
        max(applied.is_uncertain) = 0 as is_certain
    from {{ ref('int_policy_days') }} as days
    inner join applied using (org_id, activity_date)
    inner join {{ ref('int_policy_verdicts') }} as verdicts
        using (org_id, policy, value, revision)
    group by 1, 2, 3, 4, 5

),

uses as (

    select
        org_id,
        policy,
        value,
        {% for name, condition in [
            ['allowed', 'is_allowed'],
            ['forbidden', 'is_certain and not is_allowed'],
        ] %}
        min(case when {{ condition }} then activity_date end)
            as first_{{ name }}_use_date,
        max(case when {{ condition }} then activity_date end)
            as last_{{ name }}_use_date,
        count(case when {{ condition }} then 1 end) as {{ name }}_use_days,
        {{ sum_of_credits('case when ' ~ condition ~ ' then amount end') }}
            as {{ name }}_amount{{ ',' if not loop.last }}
        {% endfor %}
    from judged_days
    group by 1, 2, 3

),

used as (

    select
        org_id,
        policy,
        value,
        min(activity_date) as first_use_date,
        max(activity_date) as last_use_date
    from {{ ref('int_policy_days') }}
    group by 1, 2, 3

),

followed as (

    select
        *,
        lag(is_allowed) over (
            partition by org_id, policy, value
            order by revision
        ) as was_allowed
    from {{ ref('int_policy_verdicts') }}

),

latest as (

    select
        org_id,
        policy,
        value,
        max_by(is_allowed, revision) as is_allowed,
        max(
            case when is_allowed is distinct from was_allowed then revision end
        ) as since_revision
    from followed
    group by 1, 2, 3

),

final as (

    select
        latest.org_id,
        latest.policy,
        latest.value,
        latest.is_allowed,
        used.first_use_date is not null as is_used,
        used.first_use_date,
        used.last_use_date,
        uses.first_allowed_use_date,
        uses.last_allowed_use_date,
        coalesce(uses.allowed_use_days, 0) as allowed_use_days,
        uses.allowed_amount,
        uses.first_forbidden_use_date,
        uses.last_forbidden_use_date,
        coalesce(uses.forbidden_use_days, 0) as forbidden_use_days,
        uses.forbidden_amount,
        latest.since_revision,
        changes.changed_at as since,
        changes.actor_id,
        changes.actor_email,
        changes.actor_name
    from latest
    left join used using (org_id, policy, value)
    left join uses using (org_id, policy, value)
    inner join {{ ref('int_control_revisions_ordered') }} as changes
        on latest.org_id = changes.org_id
        and latest.since_revision = changes.revision

)

select * from final

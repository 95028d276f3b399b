with

revisions as (

    select * from {{ ref('int_control_revisions_ordered') }}

),

leaves as (

    select
        revisions.org_id,
        revisions.revision,
        revisions.next_revision,
        settings.settings_path,
        settings.value_json,
        case when settings.is_redacted then 1 else 0 end as redacted
    from revisions
    inner join {{ ref('stg_platform__controls_settings') }} as settings
        on revisions.org_id = settings.org_id
        and revisions.revision = settings.revision
        and revisions.landed_date = settings.activity_date

),

sides as (

    select
        org_id,
        revision,
        settings_path,
        cast(null as string) as old_value,
        value_json as new_value,
        redacted
    from leaves

    union all

    select
        org_id,
        next_revision as revision,
        settings_path,
        value_json as old_value,
        cast(null as string) as new_value,
        redacted
    from leaves
    where next_revision is not null

),

compared as (

    select
        org_id,
        revision,
        settings_path,
        max(old_value) as old_value,
        max(new_value) as new_value,
        max(redacted) = 1 as is_redacted
    from sides
    group by 1, 2, 3

),

final as (

    select
        org_id,
        revision,
        revisions.previous_revision,
        compared.settings_path,
        case
            when compared.old_value is null then 'added'
            when compared.new_value is null then 'removed'
            else 'changed'
        end as change,
        compared.old_value,
        compared.new_value,
        revisions.actor_id,
        revisions.actor_email,
        revisions.actor_name,
        revisions.changed_at,
        compared.is_redacted
    from compared
    inner join revisions using (org_id, revision)
    where compared.old_value is distinct from compared.new_value

)

select * from final

with

ranked as (

    select
        *,
        row_number() over (
            partition by org_id, settings_path
            order by revision desc
        ) as change_rank
    from {{ ref('fct_control_change') }}

),

final as (

    select
        org_id,
        settings_path,
        new_value as current_value,
        is_redacted,
        revision,
        actor_id,
        actor_email,
        actor_name,
        changed_at
    from ranked
    where change_rank = 1 and new_value is not null

)

select * from final

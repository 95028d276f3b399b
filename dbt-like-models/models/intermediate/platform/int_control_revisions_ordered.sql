with

ranked as (

    select
        *,
        row_number() over (
            partition by org_id, revision
            order by fetched_at desc, activity_date desc
        ) as landing_rank
    from {{ ref('stg_platform__controls_revisions') }}
    where revision is not null and settings is not null

),

final as (

    select
        org_id,
        revision,
        lag(revision) over (
            partition by org_id
            order by revision
        ) as previous_revision,
        lead(revision) over (
            partition by org_id
            order by revision
        ) as next_revision,
        activity_date as landed_date,
        updated_at as changed_at,
        actor_id,
        actor_email,
        actor_name
    from ranked
    where landing_rank = 1

)

select * from final

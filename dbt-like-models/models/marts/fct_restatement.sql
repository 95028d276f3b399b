with

restatements as (

    select * from {{ ref('stg_platform__restatements') }}

),

final as (

    select
        org_id,
        resource,
        activity_date,
        entity_key,
        metric,
        old_value,
        new_value,
        old_fetched_at,
        new_fetched_at
    from restatements

)

select * from final

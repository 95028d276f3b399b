with

messages as (

    select * from {{ ref('stg_platform__messages') }}

),

ranked as (

    select
        *,
        row_number() over (
            partition by org_id, session_id, message_id
            order by fetched_at desc, activity_date desc
        ) as landing_rank
    from messages
    where session_id is not null and message_id is not null

),

final as (

    select
        org_id,
        session_id,
        message_id,
        role,
        source,
        visibility,
        parent_id,
        created_at,
        updated_at,
        block_count,
        text_block_count,
        text_length,
        is_user_visible,
        is_error,
        fetched_at
    from ranked
    where landing_rank = 1

)

select * from final

-- One row per org, day, session and message of `messages`; a later one wins.
-- The session is the one that was asked for. A length is in characters.
with

served as (

    select
        org_id,
        activity_date,
        page,
        ordinal,
        asked_for(request, 'sessions') as session_id,
        asked_for(request, 'messages') as asked,
        read_item(item, '{
            "id": "VARCHAR",
            "role": "VARCHAR",
            "userMessageSource": "VARCHAR",
            "visibility": "VARCHAR",
            "parentId": "VARCHAR",
            "createdAt": "VARCHAR",
            "updatedAt": "VARCHAR",
            "content": [{"type": "VARCHAR", "text": "VARCHAR"}],
            "isUserVisible": "VARCHAR",
            "isError": "VARCHAR"
        }') as message,
        fetched_at
    from raw

),

blocks as (

    select
        * exclude (asked),
        coalesce(nullif(message.id, ''), asked) as message_id,
        list_filter(
            message.content, lambda block: block.type = 'text'
        ) as texts
    from served

),

latest as (

    select * from blocks
    qualify message_id is null or row_number() over (
        partition by org_id, activity_date, session_id, message_id
        order by fetched_at desc, page desc, ordinal desc
    ) = 1

),

final as (

    select
        org_id,
        activity_date,
        session_id,
        message_id,
        nullif(message.role, '') as role,
        nullif(message.userMessageSource, '') as source,
        nullif(message.visibility, '') as visibility,
        nullif(message.parentId, '') as parent_id,
        from_epoch(message.createdAt) as created_at,
        from_epoch(message.updatedAt) as updated_at,
        len(message.content) as block_count,
        len(texts) as text_block_count,
        case
            when texts is not null then cast(coalesce(list_sum(
                list_transform(texts, lambda block: length(block.text))
            ), 0) as bigint)
        end as text_length,
        to_boolean(message.isUserVisible) as is_user_visible,
        to_boolean(message.isError) as is_error,
        fetched_at
    from latest

)

select * from final

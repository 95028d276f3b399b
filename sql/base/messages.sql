-- One row per org, day, session and message of `messages`. A length is in
-- characters.
with

blocks as (

    select
        *,
        list_filter(
            item.content, lambda block: block.type = 'text'
        ) as texts
    from parsed

)

select
    org_id,
    activity_date,
    session_id,
    message_id,
    nullif(item.role, '') as role,
    nullif(item.userMessageSource, '') as source,
    nullif(item.visibility, '') as visibility,
    nullif(item.parentId, '') as parent_id,
    from_epoch(item.createdAt) as created_at,
    from_epoch(item.updatedAt) as updated_at,
    len(item.content) as block_count,
    len(texts) as text_block_count,
    case
        when texts is not null then cast(coalesce(list_sum(
            list_transform(texts, lambda block: length(block.text))
        ), 0) as bigint)
    end as text_length,
    to_boolean(item.isUserVisible) as is_user_visible,
    to_boolean(item.isError) as is_error,
    fetched_at
from blocks

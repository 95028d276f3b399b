-- Messages of `messages`; a later one wins. The session is the one that was
-- asked for.
with

served as (

    select
        org_id,
        activity_date,
        {
            'fetched_at': fetched_at, 'page': page, 'ordinal': ordinal
        } as place,
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
        }') as item,
        fetched_at
    from raw

),

final as (

    select
        * exclude (asked),
        coalesce(nullif(item.id, ''), asked) as message_id,
        case
            when message_id is not null
            then {'session': session_id, 'message': message_id}
        end as row_key
    from served

)

select * from final

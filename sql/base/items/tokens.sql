-- The day as `tokens` served it last: what came twice counts once.
with

served as (

    select
        org_id,
        activity_date,
        day_digest,
        {'page': page, 'ordinal': ordinal} as place,
        read_item(item, '{
            "billable_tokens": "VARCHAR",
            "input_tokens": "VARCHAR",
            "output_tokens": "VARCHAR",
            "cache_read_tokens": "VARCHAR",
            "cache_write_tokens": "VARCHAR",
            "by_model": [{
                "model_id": "VARCHAR",
                "model": "VARCHAR",
                "model_tier": "VARCHAR",
                "billable_tokens": "VARCHAR",
                "input_tokens": "VARCHAR",
                "output_tokens": "VARCHAR"
            }],
            "by_user": [{
                "user_id": "VARCHAR",
                "user_email": "VARCHAR",
                "billable_tokens": "VARCHAR",
                "input_tokens": "VARCHAR",
                "output_tokens": "VARCHAR",
                "by_model": [{
                    "model_id": "VARCHAR",
                    "model": "VARCHAR",
                    "model_tier": "VARCHAR",
                    "billable_tokens": "VARCHAR",
                    "input_tokens": "VARCHAR",
                    "output_tokens": "VARCHAR"
                }]
            }]
        }') as item,
        fetched_at
    from raw

),

final as (

    select
        *,
        '' as row_key
    from served

)

select * from final

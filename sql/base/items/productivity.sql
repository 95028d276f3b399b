-- The day as `productivity` served it last.
with

served as (

    select
        org_id,
        activity_date,
        {'page': page, 'ordinal': ordinal} as place,
        read_item(item, '{
            "files_created": "VARCHAR",
            "files_edited": "VARCHAR",
            "git_commits": "VARCHAR",
            "git_prs_created": "VARCHAR",
            "by_language": [{"language": "VARCHAR", "count": "VARCHAR"}],
            "by_extension": [{"extension": "VARCHAR", "count": "VARCHAR"}]
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

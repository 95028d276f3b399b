-- One row per org and day of `usage_limits`. NULL is no limit.
with

days as (

    select
        org_id,
        activity_date,
        page,
        ordinal,
        read_item(item, '{"globalLimit": "VARCHAR"}') as limits,
        fetched_at
    from raw

),

final as (

    select
        org_id,
        activity_date,
        to_count(limits.globalLimit) as global_limit,
        fetched_at
    from days
    qualify row_number() over (
        partition by org_id, activity_date
        order by fetched_at desc, page desc, ordinal desc
    ) = 1

)

select * from final

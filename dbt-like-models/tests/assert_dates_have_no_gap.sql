-- Days of dim_date that another day of their org follows, but not the next one.
with

followed as (

    select
        org_id,
        activity_date,
        lead(activity_date) over (
            partition by org_id
            order by activity_date
        ) as next_date
    from {{ ref('dim_date') }}

),

final as (

    select * from followed
    where next_date != activity_date + 1

)

select * from final

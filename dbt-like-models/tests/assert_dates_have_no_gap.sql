-- Days that dim_date lacks: each follows a known date of its org that is not
-- the last one.
with

dates as (

    select * from {{ ref('dim_date') }}

),

last_dates as (

    select
        org_id,
        max(activity_date) as last_date
    from dates
    group by 1

),

next_dates as (

    select
        dates.org_id,
        dates.activity_date + 1 as activity_date
    from dates
    inner join last_dates
        on dates.org_id = last_dates.org_id
        and dates.activity_date < last_dates.last_date

),

final as (

    select
        next_dates.org_id,
        next_dates.activity_date
    from next_dates
    left join dates
        on next_dates.org_id = dates.org_id
        and next_dates.activity_date = dates.activity_date
    where dates.activity_date is null

)

select * from final

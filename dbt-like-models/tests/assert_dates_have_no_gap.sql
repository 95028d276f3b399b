-- Days that follow a known date, are not the last, and are no known date.
with

dates as (

    select * from {{ ref('dim_date') }}

),

last_dates as (

    select max(activity_date) as last_date
    from dates

),

next_dates as (

    select dates.activity_date + 1 as activity_date
    from dates
    inner join last_dates
        on dates.activity_date < last_dates.last_date

),

final as (

    select next_dates.activity_date
    from next_dates
    left join dates
        on next_dates.activity_date = dates.activity_date
    where dates.activity_date is null

)

select * from final

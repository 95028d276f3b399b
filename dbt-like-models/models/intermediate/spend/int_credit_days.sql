with

known_days as (

    select
        org_id,
        activity_date,
        cast(date_trunc('month', activity_date) as date) as month_start_date,
        extract(day from activity_date) as day_of_month,
        billable_tokens
    from (
        {{ credits_of_days() }}
    ) as credit_days
    where billable_tokens is not null

),

-- The same day of the month, in the nearest months that contain it.
neighbours as (

    select
        *,
        lag(activity_date) over same_day as date_before,
        lag(billable_tokens) over same_day as billable_tokens_before,
        lead(activity_date) over same_day as date_after,
        cast(date_trunc('month', month_start_date - 1) as date)
            as previous_month,
        cast(last_day(month_start_date) + 1 as date) as next_month
    from known_days
    window same_day as (
        partition by org_id, day_of_month order by activity_date
    )

),

final as (

    select
        org_id,
        activity_date,
        month_start_date,
        billable_tokens,
        case
            when date_before >= previous_month then date_before
        end as previous_date,
        case
            when date_before >= previous_month then billable_tokens_before
        end as previous_billable_tokens,
        case
            when date_after <= last_day(next_month) then date_after
        end as next_date
    from neighbours

)

select * from final

-- A table, because it has few rows. Besides the days as served, the sums of a
-- month depend on which of them are compared, and on the teams of its users.
{{ config(materialized='table') }}

with

days as (

    select
        org_id,
        activity_date,
        concat(
            served.day_digest,
            case when credit_days.previous_date is not null then '<' else '' end,
            case when credit_days.next_date is not null then '>' else '' end
        ) as day_digest
    from {{ ref('stg_platform__tokens_days') }} as served
    left join {{ ref('int_credit_days') }} as credit_days
        using (org_id, activity_date)

),

months as (

    {{ versions_of('month', 'days') }}

),

team_users as (

    select
        months.org_id,
        months.month_start_date,
        md5(concat(
            md5(history.user_id),
            md5(history.team),
            cast(
                greatest(history.valid_from, months.month_start_date) as string
            ),
            cast(
                case
                    when history.valid_to <= last_day(months.month_start_date)
                    then history.valid_to
                end as string
            )
        )) as user_digest
    from months
    inner join {{ ref('dim_user_history') }} as history
        on months.org_id = history.org_id
        and history.valid_from <= last_day(months.month_start_date)
        and coalesce(history.valid_to, date '9999-12-31')
        > months.month_start_date
    where history.team is not null

),

teams as (

    select
        org_id,
        month_start_date,
        {{ digest_of_texts('user_digest') }} as team_digest
    from team_users
    group by 1, 2

),

final as (

    select
        org_id,
        month_start_date,
        md5(
            concat(months.month_digest, coalesce(teams.team_digest, ''))
        ) as month_digest
    from months
    left join teams using (org_id, month_start_date)

)

select * from final

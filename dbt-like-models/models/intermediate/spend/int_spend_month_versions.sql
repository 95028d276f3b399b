-- A table, because it has few rows. Besides the days as served, the sums of a
-- month depend on which of them are compared, and on the teams of its users.
{{ config(materialized='table') }}

with

months as (

    select
        org_id,
        month_start_date,
        month_digest
    from {{ ref('int_account_month_versions') }}

),

compared_days as (

    select
        org_id,
        month_start_date,
        concat(
            cast(activity_date as string),
            case when previous_date is not null then '<' else '' end,
            case when next_date is not null then '>' else '' end
        ) as comparison
    from {{ ref('int_credit_days') }}

),

comparisons as (

    select
        org_id,
        month_start_date,
        {{ digest_of_texts('comparison') }} as comparison_digest
    from compared_days
    group by 1, 2

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
            case
                when history.valid_to <= last_day(months.month_start_date)
                then cast(history.valid_to as string)
                else ''
            end
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
        md5(concat(
            months.month_digest,
            coalesce(comparisons.comparison_digest, ''),
            coalesce(teams.team_digest, '')
        )) as sums_digest
    from months
    left join comparisons using (org_id, month_start_date)
    left join teams using (org_id, month_start_date)

)

select * from final

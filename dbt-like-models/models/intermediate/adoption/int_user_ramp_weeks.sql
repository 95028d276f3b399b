-- A table: the only pass over the users of every day that both marts need.
-- Users at the left edge are left out, because their beginning is unknown.
{{ config(materialized='table') }}

with

members as (

    select
        users.org_id,
        users.user_id,
        users.first_active_date
    from {{ ref('dim_user') }} as users
    inner join {{ ref('int_org_weeks') }} as weeks
        on users.org_id = weeks.org_id
        and {{ week_of('users.first_active_date') }} = weeks.week_start_date
    where users.user_id not like '(%' and not weeks.is_left_edge

),

user_days as (

    select
        users.*,
        case
            {% for week_number in [1, 2, 3, 4] %}
            when
                users.activity_date
                < members.first_active_date + {{ 7 * week_number }}
            then {{ week_number }}
            {% endfor %}
            else 5
        end as week_number
    from {{ ref('fct_user_day') }} as users
    inner join members using (org_id, user_id)
    where users.is_active

),

final as (

    select
        org_id,
        user_id,
        week_number,
        count(*) as active_days,
        {{ sum_of_counts('tool_calls') }} as tool_calls,
        {{ sum_of_credits('billable_tokens') }} as billable_tokens,
        min(case when git_commits > 0 then activity_date end)
            as first_commit_date,
        min(case when git_prs_created > 0 then activity_date end)
            as first_pr_date,
        min(
            case
                when tool_calls > 0 and delegation_level = 'auto-high'
                then activity_date
            end
        ) as first_auto_high_date
    from user_days
    group by 1, 2, 3

)

select * from final

{% set outputs = [
    'git_commits', 'git_prs_created', 'files_created', 'files_edited',
] %}

with

shown as (

    select
        org_id,
        week_start_date,
        team,
        is_complete_week,
        active_users,
        active_users < {{ var('smallest_group') }} as is_suppressed,
        {% for metric in ['billable_tokens'] + outputs %}
        case
            when active_users >= {{ var('smallest_group') }} then {{ metric }}
        end as {{ metric }}{{ ',' if not loop.last }}
        {% endfor %}
    from {{ ref('mart_team_week') }}

),

final as (

    select
        *,
        {% for output in outputs %}
        cast({{ output }} as double) * 1000000
        / nullif(cast(billable_tokens as double), 0)
        as {{ output }}_per_million_credits{{ ',' if not loop.last }}
        {% endfor %}
    from shown

)

select * from final

-- Built by whole days, like fct_user_day, whose sums these are.
{{
    config(
        materialized='incremental',
        unique_key=['org_id', 'activity_date'],
        pre_hook="
            {{ delete_other_versions(
                'int_user_day_versions',
                ['org_id', 'activity_date', 'day_digest']
            ) }}
        "
    )
}}

{% set metrics = [
    'tool_calls', 'billable_tokens', 'files_created', 'files_edited',
    'git_commits', 'git_prs_created', 'mcp_calls', 'skill_calls',
    'slash_commands', 'hooks', 'sessions', 'messages', 'user_messages',
] %}

select
    org_id,
    activity_date,
    count(
        case when is_active and user_id not like '(%' then 1 end
    ) as users,
    {% for metric in metrics %}
    {{ sum_of_metric(metric) }} as {{ metric }},
    {% endfor %}
    max(due_days.day_digest) as day_digest
from {{ ref('fct_user_day') }} as users
inner join (
    {{ due(
        'int_user_day_versions', ['org_id', 'activity_date'], ['day_digest']
    ) }}
) as due_days using (org_id, activity_date)
group by 1, 2

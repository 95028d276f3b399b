-- Built by whole days, like fct_user_model_day, because a pass over all users
-- and models of every day would be the most expensive step of a night.
{{
    config(
        materialized='incremental',
        unique_key=['org_id', 'activity_date'],
        pre_hook="
            {{ delete_other_versions(
                'stg_platform__tokens_days',
                ['org_id', 'activity_date', 'day_digest']
            ) }}
        "
    )
}}

{% set parts = ['models', 'users', 'user_models'] %}
{% set metrics = ['billable_tokens', 'input_tokens', 'output_tokens'] %}

with

due_days as (

    {{ due(
        'stg_platform__tokens_days', ['org_id', 'activity_date'], ['day_digest']
    ) }}

),

{% for part in parts %}
{{ part }} as (

    select
        org_id,
        activity_date,
        {{ sums_of_tokens() }}
    from {{ ref('stg_platform__tokens_' ~ part) }}
    inner join due_days using (org_id, activity_date)
    group by 1, 2

),

{% endfor %}
final as (

    select
        org_id,
        activity_date,
        {% for part in parts %}
        {% for metric in metrics %}
        {{ part }}.{{ metric }} as {{ part }}_{{ metric }},
        {% endfor %}
        {% endfor %}
        due_days.day_digest
    from due_days
    {% for part in parts %}
    left join {{ part }} using (org_id, activity_date)
    {% endfor %}

)

select * from final

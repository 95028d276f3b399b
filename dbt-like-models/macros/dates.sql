{# Monday of the ISO week of a day. #}
{% macro week_of(date) -%}
    cast(date_trunc('week', {{ date }}) as date)
{%- endmacro %}

{# Number of days from one day to another. #}
{% macro days_between(first, last) -%}
    {%- if target.type == 'spark' -%}
    cast(datediff({{ last }}, {{ first }}) as bigint)
    {%- else -%}
    datediff('day', {{ first }}, {{ last }})
    {%- endif -%}
{%- endmacro %}

{#
    The days of each organisation, with the state of its analytics as 1 or 0. The
    other resources are left out: they describe the night of the fetch, not a day.
#}
{% macro analytics_days() -%}
    select
        org_id,
        activity_date,
        min(case when is_settled then 1 else 0 end) as is_settled,
        min(
            case when status in ('landed', 'empty') then 1 else 0 end
        ) as is_complete,
        max(case when status = 'missing' then 1 else 0 end) as is_missing,
        max(case when status = 'failed' then 1 else 0 end) as is_failed,
        max(
            case
                when resource = 'users' and status in ('landed', 'empty')
                then 1
                else 0
            end
        ) as is_users_known
    from {{ ref('stg_platform__intervals') }}
    where resource in (
        'tokens', 'tokens_by_model', 'tools', 'tools_by_name', 'activity',
        'activity_by_client', 'productivity', 'users'
    )
    group by 1, 2
{%- endmacro %}

{# The last day of each organisation whose users are known. #}
{% macro last_days_of_users() -%}
    select
        org_id,
        max(activity_date) as last_date
    from {{ ref('stg_platform__intervals') }}
    where resource = 'users' and status in ('landed', 'empty')
    group by 1
{%- endmacro %}

{# The days with analytics, some of them twice. #}
{% macro served_days() -%}
    select org_id, activity_date from {{ ref('fct_org_day') }}

    union all

    select org_id, activity_date from {{ ref('int_user_day_versions') }}
{%- endmacro %}

{#
    Whether a period of a history contains a day. It uses comparisons only: with
    an `or`, DuckDB compares every row of a left join with every other.
#}
{% macro is_valid(history, date) -%}
    {{ date }} >= {{ history }}.valid_from
    and {{ date }} < coalesce({{ history }}.valid_to, date '9999-12-31')
{%- endmacro %}

{# Monday of the ISO week of a day. #}
{% macro week_of(date) -%}
    cast(date_trunc('week', {{ date }}) as date)
{%- endmacro %}

{# The resources of analytics: each speaks of the day, not of the night. #}
{% macro analytics_resources() -%}
    'tokens', 'tokens_by_model', 'tools', 'tools_by_name', 'activity',
    'activity_by_client', 'productivity', 'users'
{%- endmacro %}

{#
    Whether a period of a history holds a day. As comparisons alone: with an
    `or`, DuckDB compares every row of a left join with every other.
#}
{% macro is_valid(history, date) -%}
    {{ date }} >= {{ history }}.valid_from
    and {{ date }} < coalesce({{ history }}.valid_to, date '9999-12-31')
{%- endmacro %}

{# Monday of the ISO week of a day. #}
{% macro week_of(date) -%}
    cast(date_trunc('week', {{ date }}) as date)
{%- endmacro %}

{# The resources of analytics: each speaks of the day, not of the night. #}
{% macro analytics_resources() -%}
    'tokens', 'tokens_by_model', 'tools', 'tools_by_name', 'activity',
    'activity_by_client', 'productivity', 'users'
{%- endmacro %}

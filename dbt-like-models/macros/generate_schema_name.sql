{#
    The schemas are exactly `staging`, `intermediate` and `main`. dbt's own
    macro would put the target's schema in front.
#}
{% macro generate_schema_name(custom_schema_name, node) -%}
    {{ custom_schema_name if custom_schema_name else target.schema }}
{%- endmacro %}

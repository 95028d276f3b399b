{#
    The schemas are exactly `staging`, `intermediate` and `main`. dbt's own
    macro would add the schema of the target as a prefix.
#}
{% macro generate_schema_name(custom_schema_name, node) -%}
    {{ custom_schema_name if custom_schema_name else target.schema }}
{%- endmacro %}

{#
    Both sides of a check, for every day that has at least one of them. A side is a
    column of a relation by day, written as `relation.column`.
#}
{% macro sides_of_check(check_name, comparison, expected, actual) -%}
    select
        '{{ check_name }}' as check_name,
        org_id,
        activity_date,
        '{{ comparison }}' as comparison,
        cast(expected_days.{{ expected.split('.')[1] }} as decimal(38, 6))
            as expected,
        cast(actual_days.{{ actual.split('.')[1] }} as decimal(38, 6)) as actual
    from {{ expected.split('.')[0] }} as expected_days
    full outer join {{ actual.split('.')[0] }} as actual_days
        using (org_id, activity_date)
{%- endmacro %}

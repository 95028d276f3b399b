{#
    Days whose parts in a fact, residuals included, do not reach the API's total.
    Where unknown parts may explain that, only days without them are checked.
#}
{% macro days_short_of_total(fact, part, total, may_be_unknown=false) -%}
    select
        org_id,
        activity_date,
        days.{{ total }} as expected,
        parts.actual
    from {{ ref('fct_org_day') }} as days
    left join (
        select
            org_id,
            activity_date,
            sum({{ part }}) as actual,
            count(*) - count({{ part }}) as unknown_parts
        from {{ ref(fact) }}
        group by 1, 2
    ) as parts using (org_id, activity_date)
    where
        days.{{ total }} > coalesce(parts.actual, 0)
        {%- if may_be_unknown %}
        and coalesce(parts.unknown_parts, 0) = 0
        {%- endif %}
{%- endmacro %}

{#
    The credits of every day that the platform was asked for: none on a day
    without rows, NULL where they are not known.
#}
{% macro credits_of_days() -%}
    select
        org_id,
        activity_date,
        1 as is_asked,
        case
            when intervals.status = 'empty'
            then coalesce(days.billable_tokens, 0)
            when intervals.status = 'landed' then days.billable_tokens
        end as billable_tokens
    from {{ ref('stg_platform__intervals') }} as intervals
    left join {{ ref('fct_org_day') }} as days using (org_id, activity_date)
    where intervals.resource = 'tokens'
{%- endmacro %}

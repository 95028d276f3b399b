{#
    The rest of each total that its parts do not account for, metric by metric and
    never below zero. There is no row if nothing is left. If no part has a number
    of tokens, their rest is not known, unless `is_always_known`. `parts` has one
    row per key; the number of parts behind it, `part_count`, is needed unless
    `is_always_known`.
#}
{% macro residual_tokens(totals, parts, key, is_always_known=false) -%}
    select
        {{ key | join(', ') }},
        {% for column in ['billable_tokens', 'input_tokens', 'output_tokens'] %}
        case when {{ column }} < 0 then 0 else {{ column }} end as {{ column }}
        {{- ',' if not loop.last }}
        {% endfor %}
    from (
        select
            {{ key | join(', ') }},
            {{ difference_of_credits(
                'totals.billable_tokens', 'coalesce(parts.billable_tokens, 0)'
            ) }} as billable_tokens,
            {% for column in ['input_tokens', 'output_tokens'] %}
            case
                when
                    {{ 'true' if is_always_known else 'parts.part_count is null' }}
                    or parts.{{ column }} is not null
                then {{ difference_of_counts(
                    'totals.' ~ column, 'coalesce(parts.' ~ column ~ ', 0)'
                ) }}
            end as {{ column }}{{ ',' if not loop.last }}
            {% endfor %}
        from {{ totals }} as totals
        left join {{ parts }} as parts using ({{ key | join(', ') }})
    ) as differences
    where billable_tokens > 0 or input_tokens > 0 or output_tokens > 0
{%- endmacro %}

{#
    Invocations per day and name, and as `(unattributed)` the rest of the day's
    total that the parts do not account for. If a name has several columns, all but
    the first are NULL in a residual.
#}
{% macro invocations_with_residuals(parts, total, names) -%}
    select
        org_id,
        activity_date,
        {{ names | join(', ') }},
        {{ sum_of_counts('invocations') }} as invocations
    from (
        select
            org_id,
            activity_date,
            {{ names | join(', ') }},
            invocations
        from {{ parts }}

        union all

        {{ residual_invocations(parts, total, names) }}
    ) as parts_and_residuals
    group by org_id, activity_date, {{ names | join(', ') }}
{%- endmacro %}

{% macro residual_invocations(parts, total, names) -%}
        select *
        from (
            select
                org_id,
                activity_date,
                {% for name in names %}
                {{ "'(unattributed)'" if loop.first else 'cast(null as string)' }}
                as {{ name }},
                {% endfor %}
                {{ difference_of_counts(
                    'days.' ~ total, 'coalesce(totals.invocations, 0)'
                ) }} as invocations
            from {{ ref('stg_platform__tools_days') }} as days
            left join (
                select
                    org_id,
                    activity_date,
                    sum(cast(invocations as decimal(38, 0))) as invocations
                from {{ parts }}
                group by 1, 2
            ) as totals using (org_id, activity_date)
        ) as differences
        where invocations > 0
{%- endmacro %}

{#
    The latest row of each key with the required columns. A row of the API is loaded
    again in every night in which it is fetched.
#}
{% macro last_landed(model, key, required=[]) -%}
    select *
    from (
        select
            *,
            row_number() over (
                partition by org_id, {{ key | join(', ') }}
                order by fetched_at desc, activity_date desc
            ) as landing_rank
        from {{ ref(model) }}
        where {{ (key + required) | join(' is not null and ') }} is not null
    ) as ranked
    where landing_rank = 1
{%- endmacro %}

{#
    The rows of the nested list of a day; for days without one, the rows of the
    grouped request. Columns that only the list has are NULL for the others.
#}
{% macro nested_or_grouped(nested, grouped, columns, nested_texts=[]) -%}
    select
        org_id,
        activity_date,
        {{ (columns + nested_texts) | join(',\n        ') }}
    from {{ ref(nested) }}

    union all

    select
        org_id,
        activity_date,
        {{ columns | join(',\n        ') }}
        {%- for column in nested_texts %},
        cast(null as string) as {{ column }}
        {%- endfor %}
    from {{ ref(grouped) }} as served
    where
        not exists (
            select 1
            from {{ ref(nested) }} as listed
            where
                listed.org_id = served.org_id
                and listed.activity_date = served.activity_date
        )
{%- endmacro %}

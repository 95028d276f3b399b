{#
    Incremental models are built in whole intervals: days, months, restatements. A
    model of versions lists the current intervals, each with its digest. A pre-hook
    deletes the intervals that have another digest, in the same transaction that
    then builds those that are due.
#}
{% macro delete_other_versions(versions, columns) -%}
    {% if is_incremental() -%}
    delete from {{ this }} as built
    where not exists (
        select 1
        from {{ ref(versions) }} as versions
        where {{ are_same('versions', 'built', columns) }}
    )
    {%- endif %}
{%- endmacro %}

{# The intervals that are not built yet: their key, and the given columns. #}
{% macro due(versions, key, columns=[]) -%}
    select versions.{{ (key + columns) | join(', versions.') }}
    from {{ ref(versions) }} as versions
    {%- if is_incremental() %}
    where
        not exists (
            select 1
            from {{ this }} as built
            where {{ are_same('built', 'versions', key) }}
        )
    {%- endif %}
{%- endmacro %}

{# The days of the months that are due, each with its month. #}
{% macro days_of_due_months(months, days) -%}
    select
        days.org_id,
        days.activity_date,
        due_months.month_start_date,
        due_months.month_digest
    from {{ ref(days) }} as days
    inner join (
        {{ due(months, ['org_id', 'month_start_date'], ['month_digest']) }}
    ) as due_months
        on days.org_id = due_months.org_id
        and date_trunc('month', days.activity_date)
        = due_months.month_start_date
{%- endmacro %}

{#
    One row per month with days that have versions. The digest of a month is
    computed from the digests of its days in order.
#}
{% macro month_versions(day_versions) -%}
    select
        org_id,
        cast(date_trunc('month', activity_date) as date) as month_start_date,
        md5(concat(
            {%- for number in [
                1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
                17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
            ] %}
            coalesce(
                max(
                    case
                        when extract(day from activity_date) = {{ number }}
                        then day_digest
                    end
                ),
                '-'
            ){{ ',' if not loop.last }}
            {%- endfor %}
        )) as month_digest
    from {{ ref(day_versions) }}
    group by 1, 2
{%- endmacro %}

{% macro are_same(left, right, columns) -%}
    {% for column in columns -%}
    {{ left }}.{{ column }} = {{ right }}.{{ column }}
    {%- if not loop.last %} and {% endif %}
    {%- endfor %}
{%- endmacro %}

{#
    Facts by day have no column for the version of their day; `int_fact_days` has
    it. These three macros are the pre-hooks of such a fact.
#}
{% macro delete_other_days(fact, versions) -%}
    {% if is_incremental() -%}
    delete from {{ this }} as built
    where not exists (
        select 1
        from {{ ref('int_fact_days') }} as fact_days
        inner join {{ ref(versions) }} as versions
            using (org_id, activity_date, day_digest)
        where
            fact_days.fact_name = '{{ fact }}'
            and fact_days.org_id = built.org_id
            and fact_days.activity_date = built.activity_date
    )
    {%- endif %}
{%- endmacro %}

{% macro clear_recorded_days(fact) -%}
    delete from {{ ref('int_fact_days') }} where fact_name = '{{ fact }}'
{%- endmacro %}

{% macro record_days(fact, versions) -%}
    insert into {{ ref('int_fact_days') }}
    select
        '{{ fact }}' as fact_name,
        org_id,
        activity_date,
        day_digest
    from {{ ref(versions) }}
{%- endmacro %}

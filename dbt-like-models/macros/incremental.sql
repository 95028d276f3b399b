{#
    Incremental models are built in whole intervals: days, weeks, months,
    restatements. A model of versions lists the current intervals, each with its
    digest. A pre-hook deletes the intervals that have another digest, in the same
    transaction that then builds those that are due. It looks for them first: a
    delete with `not exists` would compare every row, and nearly always nothing is
    outdated.
#}
{% macro delete_other_versions(versions, columns) -%}
    {% if is_incremental() -%}
    delete from {{ this }}
    where ({{ columns | join(', ') }}) in (
        select {{ columns | join(', ') }} from {{ this }}
        except
        select {{ columns | join(', ') }} from {{ ref(versions) }}
    )
    {%- endif %}
{%- endmacro %}

{# The same for months or weeks. #}
{% macro delete_other_periods(period, versions) -%}
    {{ delete_other_versions(
        versions, ['org_id', period ~ '_start_date', period ~ '_digest']
    ) }}
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

{# The days of the months or weeks that are due, each with its period. #}
{% macro days_of_due(period, versions, days) -%}
    select
        days.org_id,
        days.activity_date,
        due_periods.{{ period }}_start_date,
        due_periods.{{ period }}_digest
    from {{ ref(days) }} as days
    inner join (
        {{ due(
            versions,
            ['org_id', period ~ '_start_date'],
            [period ~ '_digest']
        ) }}
    ) as due_periods
        on days.org_id = due_periods.org_id
        and date_trunc('{{ period }}', days.activity_date)
        = due_periods.{{ period }}_start_date
{%- endmacro %}

{#
    One row per month or week with days that have versions. Its digest is computed
    from the digests of its days in order.
#}
{% macro versions_of(period, day_versions) -%}
    select
        org_id,
        {{ period }}_start_date,
        md5(concat(
            {%- for number in [
                0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
                19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
            ][:7 if period == 'week' else 31] %}
            coalesce(
                max(
                    case
                        when activity_date = {{ period }}_start_date + {{ number }}
                        then day_digest
                    end
                ),
                '-'
            ){{ ',' if not loop.last }}
            {%- endfor %}
        )) as {{ period }}_digest
    from (
        select
            *,
            cast(date_trunc('{{ period }}', activity_date) as date)
                as {{ period }}_start_date
        from {{ ref(day_versions) }}
    ) as days
    group by 1, 2
{%- endmacro %}

{# Digest of texts, whatever their order. #}
{% macro digest_of_texts(text) -%}
    {%- if target.type == 'spark' -%}
    md5(concat_ws(',', sort_array(collect_list({{ text }}))))
    {%- else -%}
    md5(string_agg({{ text }}, ',' order by {{ text }}))
    {%- endif -%}
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
{% macro delete_outdated_days(fact, versions) -%}
    {% if is_incremental() -%}
    delete from {{ this }}
    where (org_id, activity_date) in (
        select org_id, activity_date from {{ this }}
        except
        select org_id, activity_date
        from {{ ref('int_fact_days') }}
        inner join {{ ref(versions) }} using (org_id, activity_date, day_digest)
        where fact_name = '{{ fact }}'
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

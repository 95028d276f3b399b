{#
    Facts of days are built by whole days. `int_fact_days` has which version of
    a day each fact holds, so that no fact needs a column for it. These run as
    pre-hooks of a fact, in the transaction that builds its days.
#}
{% macro delete_other_versions(fact_name, fact, fact_days, versions) -%}
    delete from {{ fact }} as built
    where not exists (
        select 1
        from {{ fact_days }} as fact_days
        inner join {{ versions }} as versions
            on fact_days.org_id = versions.org_id
            and fact_days.activity_date = versions.activity_date
            and fact_days.day_digest = versions.day_digest
        where
            fact_days.fact_name = '{{ fact_name }}'
            and fact_days.org_id = built.org_id
            and fact_days.activity_date = built.activity_date
    )
{%- endmacro %}

{% macro forget_days(fact_name, fact_days) -%}
    delete from {{ fact_days }} where fact_name = '{{ fact_name }}'
{%- endmacro %}

{% macro record_days(fact_name, fact_days, versions) -%}
    insert into {{ fact_days }}
    select
        '{{ fact_name }}' as fact_name,
        org_id,
        activity_date,
        day_digest
    from {{ versions }}
{%- endmacro %}

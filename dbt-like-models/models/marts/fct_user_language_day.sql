-- Made by whole days: days of another version than the one served are taken
-- out first, and what is served and not here is put in.
{{
    config(
        materialized='incremental',
        incremental_strategy='delete+insert',
        unique_key=['org_id', 'activity_date'],
        on_schema_change='fail',
        pre_hook=[
            "
            {% if is_incremental() %}
            {{ delete_other_versions(
                'fct_user_language_day',
                this,
                ref('int_fact_days'),
                ref('int_user_language_days_served')
            ) }}
            {% endif %}
            ",
            "{{ forget_days('fct_user_language_day', ref('int_fact_days')) }}",
            "
            {{ record_days(
                'fct_user_language_day',
                ref('int_fact_days'),
                ref('int_user_language_days_served')
            ) }}
            "
        ]
    )
}}

with

due_days as (

    select
        served.org_id,
        served.activity_date
    from {{ ref('int_user_language_days_served') }} as served
    {% if is_incremental() %}
    where
        not exists (
            select 1
            from {{ this }} as held
            where
                held.org_id = served.org_id
                and held.activity_date = served.activity_date
        )
    {% endif %}

),

languages as (

    select languages.*
    from {{ ref('stg_platform__user_languages') }} as languages
    inner join due_days
        on languages.org_id = due_days.org_id
        and languages.activity_date = due_days.activity_date

),

identified as (

    select
        org_id,
        activity_date,
        user_id,
        language
    from languages
    where user_id != '(unattributed)'

),

unidentified as (

    select
        org_id,
        activity_date,
        user_id,
        language
    from languages
    where user_id = '(unattributed)'
    group by 1, 2, 3, 4

),

final as (

    select * from identified

    union all

    select * from unidentified

)

select * from final

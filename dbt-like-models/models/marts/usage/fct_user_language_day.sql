-- Built by whole days: see macros/incremental.sql.
{{
    config(
        materialized='incremental',
        unique_key=['org_id', 'activity_date'],
        pre_hook=[
            "{{ delete_outdated_days('fct_user_language_day', 'int_user_language_day_versions') }}",
            "{{ clear_recorded_days('fct_user_language_day') }}",
            "{{ record_days('fct_user_language_day', 'int_user_language_day_versions') }}"
        ]
    )
}}

with

languages as (

    select
        org_id,
        activity_date,
        user_id,
        language
    from {{ ref('stg_platform__user_languages') }}
    inner join (
        {{ due(
            'int_user_language_day_versions', ['org_id', 'activity_date']
        ) }}
    ) as due_days using (org_id, activity_date)

),

final as (

    select * from languages
    where user_id != '(unattributed)'

    union all

    select distinct * from languages
    where user_id = '(unattributed)'

)

select * from final

-- Made by whole days: days of other versions than those served are taken out
-- first, and what is served and not here is put in.
{{
    config(
        materialized='incremental',
        incremental_strategy='delete+insert',
        unique_key=['org_id', 'resource', 'activity_date'],
        on_schema_change='fail',
        pre_hook="
            {% if is_incremental() %}
            delete from {{ this }} as held
            where not exists (
                select 1
                from {{ ref('int_restated_days_served') }} as served
                where
                    served.org_id = held.org_id
                    and served.resource = held.resource
                    and served.activity_date = held.activity_date
                    and served.day_digest = held.day_digest
            )
            {% endif %}
        "
    )
}}

with

due_days as (

    select
        served.org_id,
        served.resource,
        served.activity_date
    from {{ ref('int_restated_days_served') }} as served
    {% if is_incremental() %}
    where
        not exists (
            select 1
            from {{ this }} as held
            where
                held.org_id = served.org_id
                and held.resource = served.resource
                and held.activity_date = served.activity_date
        )
    {% endif %}

),

restatements as (

    select restatements.*
    from {{ ref('stg_platform__restatements') }} as restatements
    inner join due_days
        on restatements.org_id = due_days.org_id
        and restatements.resource = due_days.resource
        and restatements.activity_date = due_days.activity_date

),

final as (

    select
        org_id,
        resource,
        activity_date,
        entity_key,
        metric,
        old_value,
        new_value,
        old_fetched_at,
        new_fetched_at,
        day_digest
    from restatements

)

select * from final

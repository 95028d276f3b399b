-- Made by whole restatements, each of two versions of a day that never change:
-- one that is not served any more, because a version was lost, is taken out
-- first, and what is served and not here is put in.
{{
    config(
        materialized='incremental',
        incremental_strategy='delete+insert',
        unique_key=['org_id', 'resource', 'activity_date', 'new_fetched_at'],
        on_schema_change='fail',
        pre_hook="
            {% if is_incremental() %}
            delete from {{ this }} as held
            where not exists (
                select 1
                from {{ ref('int_restatements_served') }} as served
                where
                    served.org_id = held.org_id
                    and served.resource = held.resource
                    and served.activity_date = held.activity_date
                    and served.old_fetched_at = held.old_fetched_at
                    and served.new_fetched_at = held.new_fetched_at
            )
            {% endif %}
        "
    )
}}

with

due as (

    select
        served.org_id,
        served.resource,
        served.activity_date,
        served.new_fetched_at
    from {{ ref('int_restatements_served') }} as served
    {% if is_incremental() %}
    where
        not exists (
            select 1
            from {{ this }} as held
            where
                held.org_id = served.org_id
                and held.resource = served.resource
                and held.activity_date = served.activity_date
                and held.new_fetched_at = served.new_fetched_at
        )
    {% endif %}

),

final as (

    select restatements.*
    from {{ ref('stg_platform__restatements') }} as restatements
    inner join due
        on restatements.org_id = due.org_id
        and restatements.resource = due.resource
        and restatements.activity_date = due.activity_date
        and restatements.new_fetched_at = due.new_fetched_at

)

select * from final

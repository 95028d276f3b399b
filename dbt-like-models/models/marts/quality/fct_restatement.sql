-- Built by whole restatements, each of two versions of a day, which never
-- change. A restatement disappears if the file of a version is gone.
{{
    config(
        materialized='incremental',
        unique_key=['org_id', 'resource', 'activity_date', 'new_fetched_at'],
        pre_hook="
            {{ delete_other_versions(
                'stg_platform__restatements',
                [
                    'org_id',
                    'resource',
                    'activity_date',
                    'old_fetched_at',
                    'new_fetched_at',
                ]
            ) }}
        "
    )
}}

{% set key = ['org_id', 'resource', 'activity_date', 'new_fetched_at'] %}

select *
from {{ ref('stg_platform__restatements') }} as restatements
{% if is_incremental() %}
where
    not exists (
        select 1
        from {{ this }} as built
        where {{ are_same('built', 'restatements', key) }}
    )
{% endif %}

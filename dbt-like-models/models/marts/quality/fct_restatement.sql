-- Built by whole restatements, each of two versions of a day, which never
-- change. A restatement disappears if the file of a version is gone.
{{
    config(
        materialized='incremental',
        unique_key=['org_id', 'resource', 'activity_date', 'new_fetched_at'],
        pre_hook="
            {{ delete_other_versions(
                'int_restatement_versions',
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

select restatements.*
from {{ ref('stg_platform__restatements') }} as restatements
inner join (
    {{ due(
        'int_restatement_versions',
        ['org_id', 'resource', 'activity_date', 'new_fetched_at']
    ) }}
) as due
    using (org_id, resource, activity_date, new_fetched_at)

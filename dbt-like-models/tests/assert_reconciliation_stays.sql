-- The 28 newest days of each org: checks whose difference changed, or of which
-- a side is no longer served. fct_reconciliation has the earlier days.
{{ config(severity='warn') }}

with

followed as (

    select
        *,
        lag(status) over (
            partition by check_name, org_id
            order by activity_date
        ) as status_before,
        max(activity_date) over (partition by org_id) as last_date
    from {{ ref('fct_reconciliation') }}

),

final as (

    select
        check_name,
        org_id,
        activity_date,
        expected,
        actual,
        difference,
        usual_relative_difference,
        status
    from followed
    where
        activity_date > last_date - {{ var('usual_days') }}
        and (
            status = 'changed'
            or (status = 'missing' and status_before != 'missing')
        )

)

select * from final

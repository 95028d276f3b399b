-- The 28 newest days of each org: checks whose difference changed, or of which
-- a side is no longer served. fct_reconciliation has the earlier days.
{{ config(severity='warn') }}

with

reconciliation as (

    select * from {{ ref('fct_reconciliation') }}

),

last_days as (

    select
        org_id,
        max(activity_date) as last_date
    from reconciliation
    group by 1

),

followed as (

    select
        *,
        lag(status) over (
            partition by check_name, org_id
            order by activity_date
        ) as status_before
    from reconciliation

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
    inner join last_days using (org_id)
    where
        activity_date > last_date - {{ var('usual_days') }}
        and (
            status = 'changed'
            or (status = 'missing' and status_before != 'missing')
        )

)

select * from final

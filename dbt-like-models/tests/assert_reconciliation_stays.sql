-- Of the 28 newest days of each org: checks whose difference changed, and those
-- of which a side is no longer served. Older ones stay in fct_reconciliation.
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
        followed.check_name,
        followed.org_id,
        followed.activity_date,
        followed.expected,
        followed.actual,
        followed.difference,
        followed.usual_relative_difference,
        followed.status
    from followed
    inner join last_days
        on followed.org_id = last_days.org_id
        and followed.activity_date > last_days.last_date - 28
    where
        followed.status = 'changed'
        or (followed.status = 'missing' and followed.status_before != 'missing')

)

select * from final

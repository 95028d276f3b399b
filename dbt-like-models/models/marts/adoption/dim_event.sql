with

orgs as (

    select distinct org_id from {{ ref('fct_org_day') }}

),

final as (

    select
        orgs.org_id,
        events.event_date,
        events.name as event_name,
        events.team,
        max(events.description) as description
    from {{ ref('events') }} as events
    inner join orgs
        on orgs.org_id = coalesce(events.org_id, orgs.org_id)
    group by 1, 2, 3, 4

)

select * from final

with

computers as (

    select * from {{ ref('stg_platform__computers') }}

),

-- A day without computers counts as well.
last_dates as (

    select
        org_id,
        max(activity_date) as last_date
    from (
        select org_id, activity_date from computers

        union all

        select org_id, activity_date from {{ ref('stg_platform__intervals') }}
        where resource = 'computers' and status in ('landed', 'empty')
    ) as asked_dates
    group by 1

),

ranked as (

    select
        *,
        min(activity_date) over (
            partition by org_id, computer_id
        ) as first_seen_date,
        row_number() over (
            partition by org_id, computer_id
            order by activity_date desc
        ) as day_rank
    from computers
    where computer_id is not null

),

final as (

    select
        org_id,
        ranked.computer_id,
        ranked.computer_name,
        ranked.provider_type,
        ranked.created_at,
        ranked.host_id,
        ranked.hostname,
        ranked.status,
        ranked.remote_user,
        ranked.first_seen_date,
        ranked.activity_date as last_seen_date,
        ranked.activity_date < last_dates.last_date as is_deleted
    from ranked
    inner join last_dates using (org_id)
    where ranked.day_rank = 1

)

select * from final

with

orgs as (

    select distinct org_id from {{ ref('fct_org_day') }}

),

-- The latest line that has begun applies; a line that names the org takes
-- precedence.
ranked as (

    select
        orgs.org_id,
        dates.activity_date,
        coalesce(licences.team, '(organisation)') as team,
        licences.seats,
        licences.monthly_price,
        licences.currency,
        cast(
            extract(day from last_day(dates.activity_date)) as double
        ) as days_of_month,
        row_number() over (
            partition by
                orgs.org_id,
                dates.activity_date,
                coalesce(licences.team, '(organisation)')
            order by
                licences.valid_from desc,
                case when licences.org_id is null then 1 else 0 end asc
        ) as line_rank
    from {{ ref('licences') }} as licences
    inner join orgs
        on orgs.org_id = coalesce(licences.org_id, orgs.org_id)
    inner join {{ ref('dim_date') }} as dates
        on orgs.org_id = dates.org_id
        and dates.activity_date >= licences.valid_from

),

final as (

    select
        org_id,
        activity_date,
        team,
        seats,
        monthly_price,
        currency,
        seats * monthly_price / days_of_month as day_price
    from ranked
    where line_rank = 1

)

select * from final

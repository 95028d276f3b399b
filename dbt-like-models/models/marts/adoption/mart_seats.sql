with

-- Without a day of users, it is not known who uses a seat.
orgs as (

    select
        org_id,
        health.last_day
    from {{ ref('mart_data_health') }} as health
    inner join (
        {{ last_days_of_users() }}
    ) as known_users using (org_id)

),

-- Lines of the seed that have begun, once for each org that they concern.
lines as (

    select
        orgs.org_id,
        teams.user as member,
        case
            when teams.user like '%@%' then lower(teams.user) else teams.user
        end as member_key,
        teams.team,
        teams.valid_from,
        case when teams.org_id is null then 1 else 0 end as is_general
    from {{ ref('teams') }} as teams
    inner join orgs
        on orgs.org_id = coalesce(teams.org_id, orgs.org_id)
        and teams.valid_from <= orgs.last_day

),

seeded_orgs as (

    select distinct org_id from lines

),

-- Every address that a member has or had. Addresses are compared regardless of
-- case, ids are not.
addresses as (

    select distinct
        org_id,
        lower(user_email) as user_email
    from {{ ref('int_user_emails_changed') }}
    where user_email is not null

),

ranked as (

    select
        lines.*,
        row_number() over (
            partition by lines.org_id, lines.member_key
            order by
                lines.valid_from desc,
                lines.is_general asc,
                lines.team asc,
                lines.member asc
        ) as line_rank
    from lines
    left join {{ ref('dim_user') }} as ids
        on lines.org_id = ids.org_id
        and lines.member = ids.user_id
    left join addresses
        on lines.org_id = addresses.org_id
        and lower(lines.member) = addresses.user_email
    where ids.user_id is null and addresses.user_email is null

),

people as (

    select
        members.org_id,
        members.user_id,
        members.user_email,
        members.user_label,
        members.team,
        members.last_active_date,
        coalesce(recent.active_days_28d, 0) as active_days_28
    from {{ ref('dim_user') }} as members
    inner join orgs on members.org_id = orgs.org_id
    left join {{ ref('mart_user_28d') }} as recent
        on members.org_id = recent.org_id
        and members.user_id = recent.user_id
    where members.user_id not like '(%'

    union all

    select
        org_id,
        case when member not like '%@%' then member end as user_id,
        case when member like '%@%' then member end as user_email,
        member as user_label,
        team,
        cast(null as date) as last_active_date,
        0 as active_days_28
    from ranked
    where line_rank = 1

),

licensed as (

    select
        people.*,
        case
            when seeded_orgs.org_id is not null then people.team is not null
        end as is_licensed
    from people
    left join seeded_orgs on people.org_id = seeded_orgs.org_id

),

final as (

    select
        org_id,
        user_id,
        user_email,
        user_label,
        coalesce(team, '(no team)') as team,
        is_licensed,
        last_active_date,
        cast(active_days_28 as bigint) as active_days_28,
        case
            when not is_licensed then 'unlicensed'
            when active_days_28 > 0 then 'active'
            when last_active_date is not null then 'idle'
            else 'never_used'
        end as status
    from licensed

)

select * from final

with

emails as (

    select
        *,
        lead(valid_from) over (
            partition by org_id, user_id
            order by valid_from
        ) as valid_to
    from {{ ref('int_user_emails_changed') }}

),

teams as (

    select
        *,
        case when org_id is null then 1 else 0 end as is_general
    from {{ ref('teams') }}

),

-- A day that the platform answered without rows is known too.
last_days as (

    select
        org_id,
        max(activity_date) as last_date
    from (
        {{ served_days() }}

        union all

        select
            org_id,
            last_date as activity_date
        from (
            {{ last_days_of_users() }}
        ) as answered
    ) as days
    group by 1

),

members as (

    select
        org_id,
        emails.user_id,
        min(emails.valid_from) as first_date,
        max(last_days.last_date) as last_date
    from emails
    left join last_days using (org_id)
    group by 1, 2

),

-- Every line of the seed that matches a member, by the id or by any address
-- that the member has or had.
seed_lines as (

    select
        members.org_id,
        members.user_id,
        cast(null as string) as user_email,
        teams.team,
        teams.cost_centre,
        teams.valid_from,
        teams.is_general
    from members
    inner join teams
        on members.user_id = teams.user
        and members.org_id = coalesce(teams.org_id, members.org_id)

    union

    select
        emails.org_id,
        emails.user_id,
        lower(emails.user_email) as user_email,
        teams.team,
        teams.cost_centre,
        teams.valid_from,
        teams.is_general
    from emails
    inner join teams
        on lower(emails.user_email) = lower(teams.user)
        and emails.org_id = coalesce(teams.org_id, emails.org_id)

),

-- The days on which anything may change. A state that began before the first
-- day applies from that day; one that begins after the last day does not apply
-- yet.
changes as (

    select
        org_id,
        user_id,
        valid_from
    from emails

    union

    select
        org_id,
        user_id,
        greatest(seed_lines.valid_from, members.first_date) as valid_from
    from seed_lines
    inner join members using (org_id, user_id)
    where seed_lines.valid_from <= members.last_date

),

addressed as (

    select
        changes.org_id,
        changes.user_id,
        changes.valid_from,
        emails.user_email
    from changes
    inner join emails
        on changes.org_id = emails.org_id
        and changes.user_id = emails.user_id
        and {{ is_valid('emails', 'changes.valid_from') }}

),

-- A line for the id or for the address of the day takes precedence over one for
-- an earlier or later address. Then the latest line takes precedence, then a
-- line of the org.
ranked as (

    select
        addressed.*,
        seed_lines.team,
        seed_lines.cost_centre,
        row_number() over (
            partition by
                addressed.org_id,
                addressed.user_id,
                addressed.valid_from
            order by
                case
                    when seed_lines.user_email is null then 0
                    when seed_lines.user_email = lower(addressed.user_email)
                    then 0
                    else 1
                end asc,
                seed_lines.valid_from desc,
                seed_lines.is_general asc,
                case when seed_lines.user_email is null then 0 else 1 end asc,
                seed_lines.team asc nulls last,
                seed_lines.cost_centre asc nulls last
        ) as line_rank
    from addressed
    left join seed_lines
        on addressed.org_id = seed_lines.org_id
        and addressed.user_id = seed_lines.user_id
        and addressed.valid_from >= seed_lines.valid_from

),

followed as (

    select
        *,
        row_number() over by_user as place,
        lag(user_email) over by_user as email_before,
        lag(team) over by_user as team_before,
        lag(cost_centre) over by_user as cost_centre_before
    from ranked
    where line_rank = 1
    window by_user as (partition by org_id, user_id order by valid_from)

),

versions as (

    select
        *,
        lead(valid_from) over (
            partition by org_id, user_id
            order by valid_from
        ) as valid_to
    from followed
    where
        place = 1
        or user_email is distinct from email_before
        or team is distinct from team_before
        or cost_centre is distinct from cost_centre_before

),

final as (

    select
        org_id,
        user_id,
        user_email,
        team,
        cost_centre,
        valid_from,
        valid_to,
        valid_to is null as is_current
    from versions

)

select * from final

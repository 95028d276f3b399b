with

latest as (

    select
        org_id,
        max(revision) as revision,
        max_by(landed_date, revision) as landed_date
    from {{ ref('int_control_revisions_ordered') }}
    group by 1

),

listed as (

    select distinct
        org_id,
        case policies.setting
            when 'managedComputersAllowedEmails' then 'managed_computers'
            else 'byom_computers'
        end as allow_list,
        policies.value_key as email,
        nullif(split_part(policies.value_key, '@', 2), '') as email_domain
    from latest
    inner join {{ ref('stg_platform__controls_policies') }} as policies
        using (org_id, revision)
    where
        policies.activity_date = latest.landed_date
        and policies.setting in (
            'managedComputersAllowedEmails', 'byomComputersAllowedEmails'
        )

),

domains as (

    select distinct
        org_id,
        allow_list,
        email_domain
    from listed
    where email_domain is not null

),

-- An address of several users belongs to the most recently active one.
members as (

    select
        org_id,
        email,
        user_id,
        last_active_date,
        active_days_28d
    from (
        select
            *,
            lower(trim(user_email)) as email,
            row_number() over (
                partition by org_id, lower(trim(user_email))
                order by
                    last_active_date desc nulls last,
                    active_days_28d desc,
                    user_id asc
            ) as user_rank
        from {{ ref('mart_user_28d') }}
        where user_email is not null
    ) as ranked
    where user_rank = 1

),

active as (

    select
        org_id,
        lists.allow_list,
        members.email,
        nullif(split_part(members.email, '@', 2), '') as email_domain
    from members
    inner join (
        select distinct
            org_id,
            allow_list
        from listed
    ) as lists using (org_id)
    where members.active_days_28d > 0

),

addresses as (

    select
        org_id,
        allow_list,
        email,
        email_domain,
        max(is_listed) as is_listed
    from (
        select
            *,
            1 as is_listed
        from listed

        union all

        select
            *,
            0 as is_listed
        from active
    ) as listed_or_active
    group by 1, 2, 3, 4

),

final as (

    select
        org_id,
        allow_list,
        email,
        email_domain,
        addresses.is_listed = 1 as is_listed,
        domains.email_domain is not null as is_domain_listed,
        members.user_id,
        members.last_active_date,
        coalesce(members.active_days_28d, 0) as active_days_28d,
        case
            when members.active_days_28d > 0 then 'active'
            when members.last_active_date is not null then 'idle'
            else 'never_active'
        end as status
    from addresses
    left join domains using (org_id, allow_list, email_domain)
    left join members using (org_id, email)

)

select * from final

-- A table: its few rows need a pass over all months. Single days are not read,
-- because nearly every user has one address, or one after another.
{{ config(materialized='table') }}

with

emails as (

    select
        org_id,
        user_id,
        user_email,
        min(first_date) as first_date,
        max(last_date) as last_date
    from (
        {% for model in ['int_user_months', 'int_account_months'] %}
        select
            org_id,
            user_id,
            user_email,
            first_date,
            last_date
        from {{ ref(model) }}
        {% if not loop.last %}

        union all

        {% endif %}
        {% endfor %}
    ) as months
    where user_id not like '(%'
    group by 1, 2, 3

),

addresses as (

    select * from emails
    where user_email is not null

),

-- Users whose addresses alternate: single days are read only for them.
alternating as (

    select distinct
        org_id,
        user_id
    from (
        select
            *,
            max(last_date) over (
                partition by org_id, user_id
                order by first_date, user_email
                rows between unbounded preceding and 1 preceding
            ) as last_date_before
        from addresses
    ) as followed_addresses
    where last_date_before >= first_date

),

sightings as (

    select
        addresses.org_id,
        addresses.user_id,
        addresses.first_date as activity_date,
        addresses.user_email,
        cast(null as string) as account_email
    from addresses
    left join alternating
        on addresses.org_id = alternating.org_id
        and addresses.user_id = alternating.user_id
    where alternating.user_id is null

    union all

    select
        org_id,
        user_id,
        activity_date,
        user_email,
        cast(null as string) as account_email
    from {{ ref('fct_user_day') }}
    inner join alternating using (org_id, user_id)
    where user_email is not null

    union all

    select
        org_id,
        user_id,
        activity_date,
        cast(null as string) as user_email,
        user_email as account_email
    from {{ ref('stg_platform__tokens_users') }}
    inner join alternating using (org_id, user_id)
    where user_email is not null

),

-- An address of `/users` takes precedence over one of `/tokens`.
addressed_days as (

    select
        org_id,
        user_id,
        activity_date,
        coalesce(max(user_email), max(account_email)) as user_email
    from sightings
    group by 1, 2, 3

),

followed as (

    select
        *,
        lag(user_email) over (
            partition by org_id, user_id
            order by activity_date
        ) as email_before
    from addressed_days

),

first_days as (

    select
        org_id,
        user_id,
        min(first_date) as first_date,
        min(
            case when user_email is not null then first_date end
        ) as first_email_date
    from emails
    group by 1, 2

),

final as (

    select
        org_id,
        user_id,
        first_date as valid_from,
        cast(null as string) as user_email
    from first_days
    where first_email_date is null or first_email_date > first_date

    union all

    select
        org_id,
        user_id,
        activity_date as valid_from,
        user_email
    from followed
    where email_before is null or user_email != email_before

)

select * from final

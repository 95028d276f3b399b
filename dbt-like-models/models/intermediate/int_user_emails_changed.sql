-- A table: few rows, which take a pass over all months to find. Nearly every
-- user has one address at most, or one after another: single days are not read.
{{ config(materialized='table') }}

with

user_months as (

    select * from {{ ref('int_user_months') }}

),

consumer_months as (

    select * from {{ ref('int_consumer_months') }}

),

user_days as (

    select * from {{ ref('fct_user_day') }}

),

consumer_days as (

    select * from {{ ref('stg_platform__tokens_users') }}

),

served_emails as (

    select
        org_id,
        user_id,
        user_email,
        first_date,
        last_date
    from user_months

    union all

    select
        org_id,
        user_id,
        user_email,
        first_total_date as first_date,
        last_total_date as last_date
    from consumer_months
    where first_total_date is not null

),

emails as (

    select
        org_id,
        user_id,
        user_email,
        min(first_date) as first_date,
        max(last_date) as last_date
    from served_emails
    where user_id not like '(%'
    group by 1, 2, 3

),

members as (

    select
        org_id,
        user_id,
        min(first_date) as first_date,
        min(
            case when user_email is not null then first_date end
        ) as first_email_date,
        max(user_email) as user_email,
        count(user_email) as email_count
    from emails
    group by 1, 2

),

renamed as (

    select
        org_id,
        user_id
    from members
    where email_count > 1

),

-- The addresses of renamed users, each with its first and last day.
spans as (

    select
        emails.org_id,
        emails.user_id,
        emails.user_email,
        emails.first_date,
        emails.last_date
    from emails
    inner join renamed
        on emails.org_id = renamed.org_id
        and emails.user_id = renamed.user_id
    where emails.user_email is not null

),

-- Users whose addresses alternate: only for them single days are read.
alternating as (

    select distinct
        earlier.org_id,
        earlier.user_id
    from spans as earlier
    inner join spans as later
        on earlier.org_id = later.org_id
        and earlier.user_id = later.user_id
        and earlier.user_email != later.user_email
        and earlier.first_date <= later.first_date
        and earlier.last_date >= later.first_date

),

-- An address of `/users` comes before one of `/tokens`.
served as (

    select
        spans.org_id,
        spans.user_id,
        spans.first_date as activity_date,
        spans.user_email,
        cast(null as string) as consumer_email
    from spans
    left join alternating
        on spans.org_id = alternating.org_id
        and spans.user_id = alternating.user_id
    where alternating.user_id is null

    union all

    select
        users.org_id,
        users.user_id,
        users.activity_date,
        users.user_email,
        cast(null as string) as consumer_email
    from user_days as users
    inner join alternating
        on users.org_id = alternating.org_id
        and users.user_id = alternating.user_id
    where users.user_email is not null

    union all

    select
        consumers.org_id,
        consumers.user_id,
        consumers.activity_date,
        cast(null as string) as user_email,
        consumers.user_email as consumer_email
    from consumer_days as consumers
    inner join alternating
        on consumers.org_id = alternating.org_id
        and consumers.user_id = alternating.user_id
    where consumers.user_email is not null

),

known_days as (

    select
        org_id,
        user_id,
        activity_date,
        coalesce(max(user_email), max(consumer_email)) as user_email
    from served
    group by 1, 2, 3

),

followed as (

    select
        *,
        lag(user_email) over (
            partition by org_id, user_id
            order by activity_date
        ) as email_before
    from known_days

),

final as (

    select
        org_id,
        user_id,
        first_date as valid_from,
        cast(null as string) as user_email
    from members
    where first_email_date is null or first_email_date > first_date

    union all

    select
        org_id,
        user_id,
        first_email_date as valid_from,
        user_email
    from members
    where email_count = 1

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

with

users as (

    select * from {{ ref('fct_user_day') }}

),

user_models as (

    select * from {{ ref('fct_user_model_day') }}

),

consumers as (

    select * from {{ ref('stg_platform__tokens_users') }}

),

active as (

    select
        org_id,
        user_id,
        max_by(
            user_email,
            case when user_email is not null then activity_date end
        ) as user_email,
        min(activity_date) as first_active_date,
        max(activity_date) as last_active_date,
        count(*) as active_days
    from users
    group by 1, 2

),

consuming as (

    select org_id, user_id from user_models group by 1, 2

),

only_consuming as (

    select
        consuming.org_id,
        consuming.user_id
    from consuming
    left join active
        on consuming.org_id = active.org_id
        and consuming.user_id = active.user_id
    where active.user_id is null

),

consumer_days as (

    select
        consumers.org_id,
        consumers.user_id,
        consumers.activity_date,
        max(consumers.user_email) as user_email
    from consumers
    inner join only_consuming
        on consumers.org_id = only_consuming.org_id
        and consumers.user_id = only_consuming.user_id
    where
        consumers.user_email is not null
        and consumers.user_id != '(unattributed)'
    group by 1, 2, 3

),

consumer_emails as (

    select
        org_id,
        user_id,
        max_by(user_email, activity_date) as user_email
    from consumer_days
    group by 1, 2

),

final as (

    select
        org_id,
        user_id,
        user_email,
        first_active_date,
        last_active_date,
        active_days
    from active

    union all

    select
        only_consuming.org_id,
        only_consuming.user_id,
        consumer_emails.user_email,
        cast(null as date) as first_active_date,
        cast(null as date) as last_active_date,
        cast(0 as bigint) as active_days
    from only_consuming
    left join consumer_emails
        on only_consuming.org_id = consumer_emails.org_id
        and only_consuming.user_id = consumer_emails.user_id

)

select * from final

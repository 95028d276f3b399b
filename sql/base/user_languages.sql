-- One row per org, day, user and language of the rows that `users` keeps.
with

languages as (

    select
        org_id,
        activity_date,
        named(item.user_id) as user_id,
        unnest(list_distinct(item.languages)) as language,
        day_digest,
        fetched_at
    from parsed

)

select * from languages
where trimmed(language) != ''

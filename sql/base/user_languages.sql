-- One row per org, day, user and language of the rows that `users` keeps.
with

entries as (

    select
        org_id,
        activity_date,
        page,
        ordinal,
        read_item(item, '{
            "user_id": "VARCHAR",
            "languages": ["VARCHAR"]
        }') as entry,
        fetched_at
    from raw

),

latest as (

    select
        org_id,
        activity_date,
        nullif(entry.user_id, '') as user_id,
        entry.languages,
        fetched_at
    from entries
    qualify user_id is null or row_number() over (
        partition by org_id, activity_date, user_id
        order by page desc, ordinal desc
    ) = 1

),

languages as (

    select
        org_id,
        activity_date,
        user_id,
        unnest(list_distinct(languages)) as language,
        fetched_at
    from latest

),

named_languages as (

    select * from languages
    where trimmed(language) != ''

),

final as (

    select
        org_id,
        activity_date,
        user_id,
        language,
        digest_text(sum(md5_number_lower(
            coalesce(user_id, '') || chr(10) || language
        )) over (partition by org_id, activity_date)) as day_digest,
        fetched_at
    from named_languages

)

select * from final

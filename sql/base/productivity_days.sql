-- One row per org and day of `productivity`.
with

days as (

    select
        org_id,
        activity_date,
        page,
        ordinal,
        read_item(item, '{
            "files_created": "VARCHAR",
            "files_edited": "VARCHAR",
            "git_commits": "VARCHAR",
            "git_prs_created": "VARCHAR"
        }') as day,
        fetched_at
    from raw

),

final as (

    select
        org_id,
        activity_date,
        to_count(day.files_created) as files_created,
        to_count(day.files_edited) as files_edited,
        to_count(day.git_commits) as git_commits,
        to_count(day.git_prs_created) as git_prs_created,
        fetched_at
    from days
    semi join newest_rows() using (org_id, activity_date, page, ordinal)

)

select * from final

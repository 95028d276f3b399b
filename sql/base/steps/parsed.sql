-- The items of one resource in `raw`, read once for all of its entities. Of
-- those with one key, the last of the day stands. Keys are held against each
-- other before rows are, which are far wider and hardly ever repeated.
{{ into }}
{{ select }};

delete from parsed
where rowid in (
    select parsed.rowid
    from parsed
    semi join (
        select
            org_id,
            activity_date,
            row_key
        from parsed
        where row_key is not null
        group by 1, 2, 3
        having count(*) > 1
    ) as repeated
        on repeated.org_id = parsed.org_id
        and repeated.activity_date = parsed.activity_date
        and repeated.row_key = parsed.row_key
    qualify row_number() over (
        partition by parsed.org_id, parsed.activity_date, parsed.row_key
        order by parsed.place desc
    ) > 1
)

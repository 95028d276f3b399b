-- Removes all but the day's last item of each key.
delete from parsed
where rowid in (
    select parsed.rowid
    from parsed
    semi join repeated_keys
        on repeated_keys.org_id = parsed.org_id
        and repeated_keys.activity_date = parsed.activity_date
        and repeated_keys.row_key = parsed.row_key
    qualify row_number() over (
        partition by parsed.org_id, parsed.activity_date, parsed.row_key
        order by parsed.place desc
    ) > 1
)

-- Rows, users and the last request of raw files, as recorded when they landed,
-- by file.
select
    notes.file_name as file,
    nullif(notes.value, '') as request_id,
    coalesce(counts.row_count, 0) as row_count,
    coalesce(counts.users, 0) as users
from {{ metadata }} as notes
left join (
    select
        filename as file,
        count(*) as row_count,
        count(distinct coalesce(
            nullif(try(json_extract_string(item, '$.user_id')), ''),
            item
        )) as users
    from {{ rows }}
    group by 1
) as counts
    on notes.file_name = counts.file
where notes.key = 'request_id'

-- Every computer in the lake, and when it was last fetched.
select
    try(json_extract_string(readable(item), '$.id')) as computer_id,
    epoch_ms(max(fetched_at)) as fetched_ms
from {{ rows }}
where try(json_extract_string(readable(item), '$.id')) is not null
group by 1
order by 1

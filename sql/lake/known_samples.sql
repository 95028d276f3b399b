-- The last sample of every computer, by the path of the request.
select
    split_part(request, '?', 1) as path,
    max(epoch_ms(try_cast(
        try(json_extract_string(readable(item), '$.timestamp')) as timestamptz
    ))) as last_ms
from {{ rows }}
group by 1

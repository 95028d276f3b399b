-- The last sample of every computer, by the path of the request. A sample from
-- after its fetch has the time of a wrong clock, and says nothing about which
-- samples have landed.
select
    path,
    epoch_ms(max(sampled_at)) as last_ms
from (
    select
        split_part(request, '?', 1) as path,
        try_cast(
            try(json_extract_string(readable(item), '$.timestamp'))
            as timestamptz
        ) as sampled_at,
        fetched_at
    from {{ rows }}
)
where sampled_at <= fetched_at
group by 1

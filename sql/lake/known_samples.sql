-- By the path of the request: the last sample of a computer, and the samples that
-- are later or have no time. A sample from after its fetch has the time of a wrong
-- clock, and says nothing about which samples have landed, unless all are ahead.
with samples as (
    select
        split_part(request, '?', 1) as path,
        item,
        to_time(
            try(json_extract_string(readable(item), '$.timestamp'))
        ) as sampled_at,
        fetched_at
    from {{ rows }}
),

latest as (
    select
        path,
        coalesce(
            max(sampled_at) filter (where sampled_at <= fetched_at),
            max(sampled_at)
        ) as last
    from samples
    group by 1
)

select
    path,
    epoch_ms(any_value(last)) as last_ms,
    list(item) filter (
        where sampled_at is null or sampled_at > last
    ) as others
from samples
inner join latest using (path)
group by 1

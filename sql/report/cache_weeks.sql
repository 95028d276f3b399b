-- The ratio of the sums of a week. The share of a day defines its input,
-- whether or not that includes the tokens read from the cache. A week with a day
-- that contradicts itself has no share.
select
    org_id,
    cast(date_trunc('week', activity_date) as date)::varchar as week,
    case
        when bool_and(cache_read_share between 0 and 1)
        then
            round(
                sum(cast(cache_read_tokens as double))
                / nullif(
                    sum(
                        coalesce(
                            cache_read_tokens / nullif(cache_read_share, 0),
                            input_tokens + cache_write_tokens
                        )
                    ),
                    0
                ),
                4
            )
    end as share
from main.mart_cache_day
inner join chosen using (org_id)
where
    cache_read_share is not null
    and date_trunc('week', activity_date) >= first_day
    and date_trunc('week', activity_date) + interval 6 day <= data_through
group by all
order by all

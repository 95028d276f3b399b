-- The ratio of the sums of a week. The share of a day defines its input,
-- whether or not that includes the tokens read from the cache. A week with a day
-- that contradicts itself has no share.
select
    weeks.org_id,
    cast(week_start_date as varchar) as week,
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
from main.mart_cache_day as days
inner join whole_weeks as weeks
    on
        days.org_id = weeks.org_id
        and date_trunc('week', days.activity_date) = weeks.week_start_date
where cache_read_share is not null
group by all
order by all

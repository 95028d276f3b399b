-- What share of the input tokens comes from the cache?
-- The last eight complete weeks, as ratios of sums over their days with all of
-- these numbers. The platform does not document whether input tokens include
-- those read from the cache, so there are two shares. A day with more cache
-- reads than input shows that the first one is right. The result is empty if no
-- week is complete yet, or if the platform sends no tokens of the cache.
with weeks as (
    select
        org_id,
        week_start_date,
        sum(mart_cache_day.input_tokens) as input_tokens,
        sum(mart_cache_day.cache_read_tokens) as cache_read_tokens,
        sum(mart_cache_day.cache_write_tokens) as cache_write_tokens,
        count(
            case when mart_cache_day.is_read_beyond_input then 1 end
        ) as days_read_beyond_input
    from main.mart_cache_day
    inner join main.dim_date using (org_id, activity_date)
    inner join main.mart_output_week using (org_id, week_start_date)
    where mart_output_week.is_complete_week
        and mart_cache_day.cache_read_share is not null
    group by 1, 2
)

select
    org_id,
    week_start_date,
    round(
        cast(cache_read_tokens as double)
        / nullif(input_tokens + cache_read_tokens + cache_write_tokens, 0),
        3
    ) as share_if_input_excludes_cache,
    round(
        cast(cache_read_tokens as double)
        / nullif(input_tokens + cache_write_tokens, 0),
        3
    ) as share_if_input_includes_cache,
    days_read_beyond_input
from weeks
qualify
    dense_rank() over (partition by org_id order by week_start_date desc) <= 8
order by 1, 2 desc

-- What share of the input tokens comes from the cache?
-- The last eight complete weeks, as ratios of sums. The platform does not
-- document whether input tokens include those read from the cache, so there are
-- two shares. A day with more cache reads than input shows that the first one
-- is right. The result is empty if no week is complete yet.
with weeks as (
    select
        org_id,
        dim_date.week_start_date,
        count(*) as days,
        sum(mart_cache_day.input_tokens) as input_tokens,
        sum(mart_cache_day.cache_read_tokens) as cache_read_tokens,
        sum(mart_cache_day.cache_write_tokens) as cache_write_tokens,
        count(
            case when mart_cache_day.is_read_beyond_input then 1 end
        ) as days_read_beyond_input
    from main.mart_cache_day
    inner join main.dim_date using (org_id, activity_date)
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
where days = 7
qualify week_start_date > max(week_start_date) over (partition by org_id) - 56
order by 1, 2 desc

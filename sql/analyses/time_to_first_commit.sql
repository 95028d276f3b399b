-- How long does it take new users to commit, and to trust the agent?
-- By the month in which they began, for users whose first 28 days are over: the
-- share that did so within these days, and the median number of days. Auto-high
-- is the first day on which they delegated mostly at that level. Users at the
-- left edge of the history are left out. The result is empty if no user began
-- after it and at least 28 days ago.
select
    org_id,
    cast(date_trunc('month', first_active_date) as date) as month_start_date,
    count(*) as new_users,
    round(avg(case when days_to_first_commit < 28 then 1.0 else 0 end), 3)
        as commit_share,
    percentile_cont(0.5) within group (
        order by case
            when days_to_first_commit < 28 then days_to_first_commit
        end
    ) as median_days_to_first_commit,
    round(avg(case when days_to_first_pr < 28 then 1.0 else 0 end), 3)
        as pr_share,
    percentile_cont(0.5) within group (
        order by case when days_to_first_pr < 28 then days_to_first_pr end
    ) as median_days_to_first_pr,
    round(avg(case when days_to_first_auto_high < 28 then 1.0 else 0 end), 3)
        as auto_high_share
from main.mart_ramp
where not is_left_edge
    and known_days >= 28
group by 1, 2
order by 1, 2

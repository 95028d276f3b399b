-- Are the repositories becoming more ready for agents?
-- By month and repository: the share of the evaluated applications that pass,
-- as a ratio of sums. The result is empty if there are no readiness reports.
select
    org_id,
    cast(date_trunc('month', report_date) as date) as month_start_date,
    repo_url,
    cast(sum(passing) as bigint) as passing,
    cast(sum(evaluated) as bigint) as evaluated,
    round(
        cast(sum(passing) as double) / nullif(sum(evaluated), 0), 3
    ) as pass_rate
from main.mart_readiness_trend
group by 1, 2, 3
order by 1, 2 desc nulls last, 3

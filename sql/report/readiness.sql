-- Reports without a time have no position on the axis.
select
    org_id,
    cast(report_date as varchar) as day,
    coalesce(regexp_replace(repo_url, '^https?://', ''), '(unnamed)') as repository,
    sum(passing) as passing,
    sum(evaluated) as evaluated,
    round(sum(passing) / nullif(sum(evaluated), 0), 4) as pass_rate
from main.mart_readiness_trend
inner join chosen using (org_id)
where report_date is not null
group by 1, 2, 3
having pass_rate is not null
order by all

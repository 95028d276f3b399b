-- Reports without a time have no position on the axis. Where a criterion passes
-- more often than it was evaluated, there is no share.
select
    org_id,
    cast(report_date as varchar) as day,
    coalesce(regexp_replace(repo_url, '^https?://', ''), '(unnamed)') as repository,
    sum(passing) as passing,
    sum(evaluated) as evaluated,
    case
        when bool_and(passing between 0 and evaluated)
        then round(sum(passing) / sum(evaluated), 4)
    end as pass_rate
from main.mart_readiness_trend
inner join chosen using (org_id)
where report_date is not null
group by 1, 2, 3
having sum(evaluated) <> 0
order by all

select
    reports.org_id,
    reports.report_id,
    criteria.criterion_id,
    reports.repo_url,
    reports.report_date,
    criteria.numerator,
    criteria.denominator,
    case
        when criteria.numerator is null then true else false
    end as is_skipped,
    criteria.numerator = criteria.denominator as is_passed,
    criteria.rationale
from {{ ref('dim_readiness_report') }} as reports
inner join {{ ref('stg_platform__readiness_criteria') }} as criteria
    on reports.org_id = criteria.org_id
    and reports.report_id = criteria.report_id
    and reports.landed_date = criteria.activity_date
where criteria.criterion_id is not null

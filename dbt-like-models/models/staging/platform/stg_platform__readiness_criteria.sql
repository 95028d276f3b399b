select
    org_id,
    activity_date,
    report_id,
    criterion_id,
    numerator,
    denominator,
    rationale,
    fetched_at
from {{ source('platform', 'readiness_criteria') }}

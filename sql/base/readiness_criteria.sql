-- One row per org, day, report of `readiness_reports` and criterion.
with

entries as (

    select
        org_id,
        activity_date,
        item.reportId,
        unnest(map_entries(item.report)) as entry,
        fetched_at
    from parsed

),

read as (

    select
        org_id,
        activity_date,
        nullif(reportId, '') as report_id,
        nullif(entry.key, '') as criterion_id,
        read_json_text(entry.value, '{
            "numerator": "VARCHAR",
            "denominator": "VARCHAR",
            "rationale": "VARCHAR"
        }') as evaluation,
        fetched_at
    from entries

)

select
    org_id,
    activity_date,
    report_id,
    criterion_id,
    to_count(evaluation.numerator) as numerator,
    to_count(evaluation.denominator) as denominator,
    evaluation.rationale,
    fetched_at
from read
qualify criterion_id is null or report_id is null or row_number() over (
    partition by org_id, activity_date, report_id, criterion_id
    order by numerator desc nulls last, denominator desc nulls last
) = 1

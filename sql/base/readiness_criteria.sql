-- One row per org, day, report of `readiness_reports` and criterion.
with

reports as (

    select
        org_id,
        activity_date,
        page,
        ordinal,
        read_item(mended(item), '{
            "reportId": "VARCHAR",
            "report": "MAP(VARCHAR, JSON)"
        }') as report,
        fetched_at
    from raw

),

latest as (

    select * from reports
    qualify report.reportId is null or row_number() over (
        partition by org_id, activity_date, report.reportId
        order by fetched_at desc, page desc, ordinal desc
    ) = 1

),

entries as (

    select
        org_id,
        activity_date,
        report.reportId,
        unnest(map_entries(report.report)) as entry,
        fetched_at
    from latest

),

read as (

    select
        org_id,
        activity_date,
        nullif(reportId, '') as report_id,
        nullif(entry.key, '') as criterion_id,
        read_item(entry.value, '{
            "numerator": "VARCHAR",
            "denominator": "VARCHAR",
            "rationale": "VARCHAR"
        }') as evaluation,
        fetched_at
    from entries

),

final as (

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

)

select * from final

with

summed as (

    select
        org_id,
        repo_url,
        criterion_id,
        report_date,
        count(*) as reports,
        count(case when is_skipped then 1 end) as skipped_reports,
        count(case when is_passed then 1 end) as passed_reports,
        {{ sum_of_counts(
            'case when denominator is not null then numerator end'
        ) }} as passing,
        {{ sum_of_counts(
            'case when not is_skipped then denominator end'
        ) }} as evaluated
    from {{ ref('fct_readiness_criterion') }}
    group by 1, 2, 3, 4

),

final as (

    select
        *,
        cast(passing as double) / nullif(evaluated, 0) as pass_rate
    from summed

)

select * from final

-- A table: few rows. The digest of a month is that of the digests of its days,
-- each at its place.
{{ config(materialized='table') }}

{% set numbers = [
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
    17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
] %}

with

days as (

    select * from {{ ref('int_user_days_served') }}

),

final as (

    select
        org_id,
        cast(date_trunc('month', activity_date) as date) as month_start_date,
        md5(concat(
            {% for number in numbers %}
            coalesce(
                max(
                    case
                        when extract(day from activity_date) = {{ number }}
                        then day_digest
                    end
                ),
                '-'
            ){{ ',' if not loop.last }}
            {% endfor %}
        )) as month_digest
    from days
    group by 1, 2

)

select * from final

-- Months whose components do not add up to the difference from the month
-- before.
select
    org_id,
    month_start_date,
    {{ sum_of_credits('billable_tokens_change') }} as actual,
    max(billable_tokens) - max(previous_billable_tokens) as expected
from {{ ref('mart_spend_bridge') }}
group by 1, 2
having
    count(*) != 6
    or sum(billable_tokens_change)
    != max(billable_tokens) - max(previous_billable_tokens)

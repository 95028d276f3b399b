with

user_months as (

    select
        org_id,
        month_start_date,
        user_id,
        {{ sum_of_credits('billable_tokens') }} as billable_tokens
    from {{ ref('int_user_months') }}
    where user_id not like '(%'
    group by 1, 2, 3
    having count(billable_tokens) > 0

),

ranked as (

    select
        *,
        cast(row_number() over by_credits as bigint) as user_rank,
        count(*) over (partition by org_id, month_start_date) as user_count,
        sum(billable_tokens) over by_credits as tokens_so_far
    from user_months
    window
        by_credits as (
            partition by org_id, month_start_date
            order by billable_tokens desc, user_id asc
            rows between unbounded preceding and current row
        )

),

tops as (

    select
        *,
        {{ ceiling_of_counts('user_count', '10') }} as top_users
    from ranked

),

-- Weighted by the number of users below minus the number above: an exact sum,
-- whereas a sum of doubles would depend on their order.
month_sums as (

    select
        org_id,
        month_start_date,
        max(user_count) as user_count,
        {{ sum_of_credits('billable_tokens') }} as month_tokens,
        {{ sum_of_credits(
            'case when user_rank <= top_users then billable_tokens end'
        ) }} as top_tokens,
        {{ sum_of_credits(
            'cast(user_count + 1 - 2 * user_rank as decimal(12, 0))
            * billable_tokens'
        ) }} as weighted_tokens
    from tops
    group by 1, 2

),

-- Ratios of a month are computed once, because a decimal of more than 16 digits
-- takes a microsecond to become a double.
months as (

    select
        org_id,
        month_start_date,
        cast(month_tokens as double) as month_tokens,
        cast(top_tokens as double) / cast(month_tokens as double)
            as top_10_percent_share,
        cast(weighted_tokens as double)
        / (cast(month_tokens as double) * user_count) as gini
    from month_sums
    where month_tokens > 0

),

final as (

    select
        org_id,
        month_start_date,
        ranked.user_id,
        ranked.user_rank,
        ranked.user_count,
        ranked.billable_tokens,
        cast(ranked.tokens_so_far as double) / months.month_tokens
            as cumulative_share,
        months.top_10_percent_share,
        months.gini
    from ranked
    left join months using (org_id, month_start_date)

)

select * from final

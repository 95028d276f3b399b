-- Which credit limits would fit what users consume?
-- With `--format csv`, the answer is a file for `limits set --csv`: read it
-- first, then try it with `--dry-run`. A limit is one and a half times the
-- largest of the last three months, rounded up to 100,000, and at least
-- 1,000,000. The current month counts, projected in a straight line, once 14 of
-- its days are known. The platform has limits by e-mail address: users without
-- one have no line, and several users with one address count together. If the
-- warehouse has several organisations, an address that is in several has the
-- largest limit. The result is empty if no user with an address consumed any
-- credits.
with last_months as (
    select
        org_id,
        max(month_start_date) as last_month
    from main.mart_limit_usage
    group by 1
),

consumed as (
    select
        org_id,
        months.month_start_date,
        lower(trim(users.user_email)) as email,
        sum(
            case
                when months.known_days >= 14
                then months.forecast_billable_tokens
                else months.billable_tokens
            end
        ) as credits
    from main.mart_limit_usage as months
    inner join last_months using (org_id)
    inner join main.dim_user as users using (org_id, user_id)
    where months.month_start_date > last_months.last_month - 63
    group by 1, 2, 3
),

largest as (
    select
        email,
        cast(max(credits) as double) as credits
    from consumed
    group by 1
)

select
    email,
    greatest(
        1000000, cast(ceil(credits * 1.5 / 100000) as bigint) * 100000
    ) as "limit"
from largest
where credits > 0
    and credits < 1e15
    and regexp_full_match(email, '[^\s@,\x3b=+-][^\s@,\x3b]*@[^\s@,\x3b]+')
order by 2 desc, 1

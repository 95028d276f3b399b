with model_tokens as (
    select first_model as model_id, first_tokens as tokens from user_day
    union all
    select second_model as model_id, second_tokens as tokens from user_day
),

models as (
    select
        model_id,
        'standard' as model_tier,
        cast(sum(tokens) as bigint) as billable_tokens,
        cast(sum(tokens) as bigint) * 3 as input_tokens,
        cast(sum(tokens) as bigint) // 4 as output_tokens
    from model_tokens
    group by model_id
),

totals as (
    select
        cast(sum(billable_tokens) as bigint) as billable_tokens,
        cast(sum(input_tokens) as bigint) as input_tokens,
        cast(sum(output_tokens) as bigint) as output_tokens
    from models
),

spenders as (
    select
        n,
        {
            user_id: user_id,
            user_email: user_email,
            billable_tokens: billable_tokens,
            by_model: [
                {
                    model_id: first_model,
                    model_tier: 'standard',
                    billable_tokens: first_tokens
                },
                {
                    model_id: second_model,
                    model_tier: 'standard',
                    billable_tokens: second_tokens
                }
            ]
        } as spender
    from user_day
)

select
    1 as page,
    0 as ordinal,
    to_json({
        date: {{ day }},
        billable_tokens: billable_tokens,
        input_tokens: input_tokens,
        output_tokens: output_tokens,
        cache_read_tokens: billable_tokens,
        cache_write_tokens: 0,
        by_model: (select list(models order by model_id) from models),
        by_user: (select list(spender order by n) from spenders)
    }) as item
from totals

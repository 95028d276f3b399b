with model_tokens as (
    select first_model as model_id, first_tokens as tokens from user_day
    union all
    select second_model as model_id, second_tokens as tokens from user_day
)

select
    1 as page,
    row_number() over (order by model_id) - 1 as ordinal,
    to_json({
        date: {{ day }},
        group_key: model_id,
        billable_tokens: cast(sum(tokens) as bigint),
        input_tokens: cast(sum(tokens) as bigint) * 3,
        output_tokens: cast(sum(tokens) as bigint) // 4
    }) as item
from model_tokens
group by model_id

{{ nested_or_grouped(
    'stg_platform__tokens_models',
    'stg_platform__tokens_by_model',
    ['model_id', 'billable_tokens', 'input_tokens', 'output_tokens'],
    ['model_tier']
) }}

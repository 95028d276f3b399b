-- Days whose models and residual do not reach the API's total: with a residual
-- row this cannot be.
{{ days_short_of_total('fct_model_day', 'billable_tokens', 'billable_tokens') }}

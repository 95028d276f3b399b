-- Days whose models and residual do not add up to the API's total. The residual
-- row makes this impossible.
{{ days_short_of_total('fct_model_day', 'billable_tokens', 'billable_tokens') }}

-- Days whose users, models and residuals do not reach the API's total: with
-- residual rows this cannot be.
{{ days_short_of_total(
    'fct_user_model_day', 'billable_tokens', 'billable_tokens'
) }}

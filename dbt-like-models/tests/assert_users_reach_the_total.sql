-- Days whose users, models and residuals do not add up to the API's total. The
-- residual rows make this impossible.
{{ days_short_of_total(
    'fct_user_model_day', 'billable_tokens', 'billable_tokens'
) }}

-- Days whose tools and residual do not reach the API's total: with a residual
-- row this cannot be. A tool whose calls are not known may be what is missing.
{{ days_short_of_total('fct_tool_day', 'invocations', 'tool_calls', true) }}

-- Days whose tools and residual do not add up to the API's total. The residual
-- row makes this impossible, except if the calls of a tool are unknown.
{{ days_short_of_total('fct_tool_day', 'invocations', 'tool_calls', true) }}

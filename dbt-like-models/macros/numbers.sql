{#
    Sums and differences of served numbers, which may be absurdly large. A sum of
    counts that does not fit a BIGINT is NULL, so that no number stops a build; the
    check `assert_counts_can_be_summed` reports the numbers behind it. On Spark the
    sum of a BIGINT is a BIGINT and can overflow; on DuckDB it cannot, and decimals
    would be slower.
#}
{% macro sum_of_counts(counts) -%}
    {%- if target.type == 'spark' -%}
    try_cast(sum(cast({{ counts }} as decimal(38, 0))) as bigint)
    {%- else -%}
    try_cast(sum({{ counts }}) as bigint)
    {%- endif -%}
{%- endmacro %}

{% macro difference_of_counts(total, parts) -%}
    try_cast(
        cast({{ total }} as decimal(38, 0)) - cast({{ parts }} as decimal(38, 0))
        as bigint
    )
{%- endmacro %}

{#
    The quotient of two counts, rounded up. The dividend must not be negative, and
    the divisor must be positive. It uses no double and cannot overflow.
#}
{% macro ceiling_of_counts(dividend, divisor) -%}
    ({{ dividend }}) {{ 'div' if target.type == 'spark' else '//' }} ({{ divisor }})
    + case when ({{ dividend }}) % ({{ divisor }}) > 0 then 1 else 0 end
{%- endmacro %}

{#
    Credits have six decimal places, and a row has 22 digits before the point, so
    the sum of 10^10 rows fits.
#}
{% macro sum_of_credits(credits) -%}
    cast(sum({{ credits }}) as decimal(38, 6))
{%- endmacro %}

{% macro difference_of_credits(total, parts) -%}
    cast({{ total }} - {{ parts }} as decimal(38, 6))
{%- endmacro %}

{#
    Credits from a double, rounded to hundredths; NULL if they do not fit. The
    result has six decimal places, because a case or coalesce of two scales keeps
    the smaller one.
#}
{% macro credits_of_double(credits) -%}
    try_cast(try_cast({{ credits }} as decimal(38, 2)) as decimal(38, 6))
{%- endmacro %}

{# The credits of some tokens at the rate of other credits for other tokens. #}
{% macro credits_at_rate(credits, tokens, rated_tokens) -%}
    {{ credits_of_double(
        'cast(' ~ credits ~ ' as double) * cast(' ~ tokens
        ~ ' as double) / cast(' ~ rated_tokens ~ ' as double)'
    ) }}
{%- endmacro %}

{# An infinite double would stop the build. #}
{% macro sum_of_shares(shares) -%}
    case
        when abs(sum({{ shares }})) < 1.7e308 then sum({{ shares }})
    end
{%- endmacro %}

{# Whether any of these counts and credits is above zero. #}
{% macro is_any_above_zero(columns) -%}
    coalesce({{ columns | join(' > 0 or ') }} > 0, false)
{%- endmacro %}

{# The sum of a metric of `/users` or `/tokens`: credits or a count, by its name. #}
{% macro sum_of_metric(metric) -%}
    {{ sum_of_credits(metric) if metric == 'billable_tokens' else sum_of_counts(metric) }}
{%- endmacro %}

{# The sums of the three metrics of `/tokens`, under their own names. #}
{% macro sums_of_tokens() -%}
    {% for metric in ['billable_tokens', 'input_tokens', 'output_tokens'] -%}
    {{ sum_of_metric(metric) }} as {{ metric }}{{ ',' if not loop.last }}
    {%- endfor %}
{%- endmacro %}

{#
    The same for sums that are added up again. Those of counts have the type of
    credits: they always fit, and DuckDB reads small values of decimal(38, 0) eight
    times more slowly, and converts them to another scale even more slowly.
#}
{% macro exact_sums_of_tokens() -%}
    {% for metric in ['billable_tokens', 'input_tokens', 'output_tokens'] -%}
    {{ exact_sum(metric) }} as {{ metric }}{{ ',' if not loop.last }}
    {%- endfor %}
{%- endmacro %}

{% macro exact_sum(number) -%}
    {{ sum_of_credits(
        'cast(' ~ number ~ ' as decimal(38, 6))' if target.type == 'spark'
        else number
    ) }}
{%- endmacro %}

with

days as (

    select
        org_id,
        activity_date,
        input_tokens,
        cache_read_tokens,
        cache_write_tokens,
        cast(cache_read_tokens as double) as tokens_read,
        {% if var('input_includes_cache') %}
        cast(input_tokens as double)
        + cast(cache_write_tokens as double) as tokens_in
        {% else %}
        cast(input_tokens as double)
        + cast(cache_read_tokens as double)
        + cast(cache_write_tokens as double) as tokens_in
        {% endif %}
    from {{ ref('fct_org_day') }}
    where
        coalesce(input_tokens, cache_read_tokens, cache_write_tokens)
        is not null

),

final as (

    select
        org_id,
        activity_date,
        input_tokens,
        cache_read_tokens,
        cache_write_tokens,
        tokens_read / nullif(tokens_in, 0) as cache_read_share,
        cache_read_tokens > input_tokens as is_read_beyond_input
    from days

)

select * from final

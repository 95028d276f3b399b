with

days as (

    select
        org_id,
        activity_date,
        input_tokens,
        cache_read_tokens,
        cache_write_tokens,
        cast(input_tokens as double)
        {% if not var('input_includes_cache') %}
        + cast(cache_read_tokens as double)
        {% endif %}
        + cast(cache_write_tokens as double) as tokens_in
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
        cast(cache_read_tokens as double) / nullif(tokens_in, 0)
            as cache_read_share,
        cache_read_tokens > input_tokens as is_read_beyond_input
    from days

)

select * from final

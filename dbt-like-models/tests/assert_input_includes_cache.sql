-- Days with more tokens read from the cache than input tokens, although the var
-- says that the input includes them.
{{ config(severity='warn') }}

select * from {{ ref('mart_cache_day') }}
where
    is_read_beyond_input
    and {{ 'true' if var('input_includes_cache') else 'false' }}

-- Days on which more was read from the cache than came in, although the var says
-- that the input includes it.
{{ config(severity='warn') }}

with

final as (

    select * from {{ ref('mart_cache_day') }}
    where
        is_read_beyond_input
        and {{ 'true' if var('input_includes_cache') else 'false' }}

)

select * from final

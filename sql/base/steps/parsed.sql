-- The items of one resource in `raw`, read once for all entities made from them.
{{ into }}
select
    * exclude (request),
    {{ columns }}
    {{ key }} as row_key
from (
    select
        org_id,
        activity_date,
        day_digest,
        fetched_at,
        request,
        request_id,
        {{ place }} as place,
        {{ has_large_numbers }} as has_large_numbers,
        read_item(item_exact, {{ shape }}) as item
    from (
        select
            *,
            {{ item }} as item_exact
        from raw
    ) as items_exact
) as items_parsed

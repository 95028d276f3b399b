-- The items of one resource in `raw`, read once for all that is made of them. The
-- text of one that may be otherwise than documented stays, as `served`.
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
        item_place(page, ordinal) as item_place,
        alike,
        case when alike is distinct from 0 then item end as served,
        {{ has_large_numbers }} as has_large_numbers,
        coalesce(known, read_item(unread, {{ shape }})) as item
    from (
        select
            *,
            case when known is null then item end as unread
        from (
{{ items }}
        ) as items
    ) as items_known
) as items_parsed

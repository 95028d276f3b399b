-- All rows of the days. Without a filter or a join: one would gather items of megabytes.
select
    activity_date,
    item,
    request_id,
    item_place(page, ordinal) as place,
    1 as stands_for,
    list_contains({{ days }}, cast(activity_date as varchar)) as is_unlike
from raw

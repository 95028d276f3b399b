-- The items that may not be as documented; one that is no JSON is NULL. The place
-- in the day leaves room for that of an object within the item. Numbers that are
-- text here because a double would respell them begin with U+0001.
create or replace temp view items as
select
    activity_date,
    (page * 1000000 + ordinal) * 10000000 as place,
    exact(readable(item), '\u0001') as item,
    not json_valid(item) and readable(item) is not null as has_halves,
    request_id
from {{ strange }}

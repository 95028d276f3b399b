-- One row per entry of `by_tool`, repeated entries too.
-- `tool_key` is the name that the spelling may stand for: the spelling itself,
-- NFC and trimmed, where that is a clean name, else the name it begins with.
with

entries as (

    select
        org_id,
        activity_date,
        unnest(item.by_tool) as entry,
        fetched_at
    from parsed

)

select
    org_id,
    activity_date,
    entry.tool,
    tool_key(entry.tool) as tool_key,
    is_tool_name(entry.tool) as is_clean_name,
    to_count(entry.invocations) as invocations,
    fetched_at
from entries
where
    entry.tool is not null
    or entry.invocations is not null

-- Who changed which setting of the organisation, and when?
-- The latest fifty changes. The result is empty if the key may not read the
-- settings, or if nothing was ever changed.
select
    org_id,
    changed_at,
    coalesce(actor_email, actor_name, actor_id) as actor,
    settings_path,
    change,
    old_value,
    new_value
from main.fct_control_change
order by 2 desc nulls last, 1, revision desc, 4
limit 50

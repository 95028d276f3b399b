-- Rows whose key occurs on one side only, or more often on one side.
select
    ours.org_id,
    cast(ours.activity_date as varchar) as activity_date,
    cast({{ key }} as varchar) as row_key,
    ours.surplus > 0 as is_extra
from residuals as ours
anti join residuals as theirs
    on {{ same_key }}
    and (ours.surplus > 0) != (theirs.surplus > 0)
order by all

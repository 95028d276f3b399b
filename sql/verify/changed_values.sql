select
    ours.org_id,
    cast(ours.activity_date as varchar) as activity_date,
    cast({{ key }} as varchar) as row_key,
    {{ column_name }} as column_name,
    cast(ours.{{ column }} as varchar) as warehouse,
    cast(theirs.{{ column }} as varchar) as platform
from residuals as ours
inner join residuals as theirs
    on {{ same_key }}
    and ours.surplus > 0
    and theirs.surplus < 0
where ours.{{ column }} is distinct from theirs.{{ column }}

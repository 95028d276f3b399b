select
    org_id,
    cast(week_start_date as varchar) as week,
    git_commits,
    git_prs_created,
    files_created + files_edited as files,
    cast(billable_tokens as double) as billable_tokens
from main.mart_output_week
inner join chosen using (org_id)
where is_complete_week
order by org_id, week_start_date

-- The results of the checks of each model in the last build that ran them.
select
    model,
    check_name,
    column_name,
    status,
    failures
from meta.check_results
where model is not null
order by model, check_name

select
    day_or_file,
    count(*) as rows
from batch
group by day_or_file

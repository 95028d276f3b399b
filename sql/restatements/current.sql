-- Of the parsed rows, the days with several versions. The current version is
-- named by its file, like the others.
delete from parsed
where activity_date not in (select activity_date from versions);

update parsed
set org_id = versions.file
from versions
where versions.activity_date = parsed.activity_date
    and versions.number = versions.versions

-- The rows in files of lines. Lines without an ordinal are page headers, and
-- are skipped. `day_or_file`: the day in a file of several days, else the file.
create or replace temp view lines as
select
    * exclude (activity_date, filename),
    coalesce(activity_date, filename) as day_or_file
from read_csv(
    {{ files }},
    filename = true,
    auto_detect = false,
    hive_partitioning = false,
    header = false,
    delim = chr(1),
    quote = chr(2),
    escape = chr(2),
    new_line = '\n',
    allow_quoted_nulls = false,
    null_padding = true,
    parallel = false,
    max_line_size = {{ longest_line }},
    buffer_size = {{ buffer_size }},
    columns = {
        item: 'VARCHAR',
        ordinal: 'BIGINT',
        page: 'BIGINT',
        fetched_at: 'TIMESTAMPTZ',
        request: 'VARCHAR',
        request_id: 'VARCHAR',
        run_id: 'VARCHAR',
        activity_date: 'VARCHAR'
    }
)
where ordinal is not null

-- The unparsed records of a CSV file, numbered from 1.
select
    *,
    row_number() over () as record
from read_csv(
    {{ path }},
    auto_detect = false,
    hive_partitioning = false,
    header = true,
    delim = {{ delimiter }},
    quote = '"',
    escape = '"',
    strict_mode = true,
    parallel = false,
    all_varchar = true,
    columns = {{ columns }}
)

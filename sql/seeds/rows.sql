select {{ expressions }}
from read_csv(
    {{ path }},
    auto_detect = false,
    hive_partitioning = false,
    header = true,
    delim = {{ delimiter }},
    quote = '"',
    escape = '"',
    strict_mode = true,
    columns = {{ columns }}
)

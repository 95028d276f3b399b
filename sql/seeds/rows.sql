select {{ expressions }}
from read_csv(
    {{ path }},
    auto_detect = false,
    header = true,
    delim = {{ delimiter }},
    quote = '"',
    escape = '"',
    strict_mode = true,
    columns = {{ columns }}
)

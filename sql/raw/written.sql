select
    file_name as file,
    num_rows as rows
from parquet_file_metadata({{ files }})

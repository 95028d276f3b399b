-- The first field that DuckDB could not read, after a scan that stored them.
select
    cast(line_byte_position as int) as position,
    error_type as type,
    column_name,
    error_message as message
from reject_errors
order by line, error_type = 'CAST', column_idx
limit 1

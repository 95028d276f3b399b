-- The first field that DuckDB could not read, from a scan that stored the
-- rejected fields.
select
    cast(line_byte_position as int) as position,
    error_type as type,
    column_name,
    error_message as message
from reject_errors
order by line, error_type = 'CAST', column_idx
limit 1

-- Tables of rows that failed checks found wrong.
select
    schema_name as schema,
    table_name as name
from duckdb_tables()
where
    database_name = current_database()
    and table_name in (
        select check_name from meta.check_results where status = 'fail'
    )

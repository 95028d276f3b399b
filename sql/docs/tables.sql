-- The tables with their row counts; views are not counted.
select
    schema_name as schema,
    table_name as name
from duckdb_tables()
where database_name = current_database() and not internal

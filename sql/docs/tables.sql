-- The tables, whose rows are counted; the rows of a view are not.
select
    schema_name as schema,
    table_name as name
from duckdb_tables()
where database_name = current_database() and not internal

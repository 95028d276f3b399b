-- The tables, whose rows are counted; the rows of a view are not.
select
    schema_name as table_schema,
    table_name
from duckdb_tables()
where database_name = current_database() and not internal

-- Every table and view in the database in use.
select
    schema_name as schema,
    table_name as name,
    'table' as kind
from duckdb_tables()
where database_name = current_database() and not internal
union all
select
    schema_name as schema,
    view_name as name,
    'view' as kind
from duckdb_views()
where database_name = current_database() and not internal

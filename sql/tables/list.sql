-- Every table and view in the catalogue, with its comment.
select
    schema_name as table_schema,
    table_name,
    comment as description
from duckdb_tables()
where database_name = current_database() and not internal
union all
select
    schema_name as table_schema,
    view_name as table_name,
    comment as description
from duckdb_views()
where database_name = current_database() and not internal
order by 1, 2

-- Every column of every table and view, with the comments of both.
with relations as (
    select
        schema_name,
        table_name as relation,
        'BASE TABLE' as kind,
        comment
    from duckdb_tables()
    where database_name = current_database() and not internal
    union all
    select
        schema_name,
        view_name as relation,
        'VIEW' as kind,
        comment
    from duckdb_views()
    where database_name = current_database() and not internal
)

select
    relations.schema_name as schema,
    relations.relation,
    relations.kind,
    relations.comment as relation_comment,
    columns.column_name as name,
    columns.data_type as type,
    columns.column_index as index,
    columns.comment
from relations
inner join duckdb_columns() as columns
    on columns.schema_name = relations.schema_name
    and columns.table_name = relations.relation
where columns.database_name = current_database()
order by 1, 2, 7

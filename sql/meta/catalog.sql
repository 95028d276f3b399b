-- Every table and view, with its columns and the comments of both.
with relations as (
    select
        schema_name,
        table_name as relation,
        'table' as kind,
        comment
    from duckdb_tables()
    where database_name = current_database() and not internal
    union all
    select
        schema_name,
        view_name as relation,
        'view' as kind,
        comment
    from duckdb_views()
    where database_name = current_database() and not internal
)

select
    relations.schema_name as schema,
    relations.relation as name,
    relations.kind,
    relations.comment,
    list(
        {
            name: columns.column_name,
            type: columns.data_type,
            index: columns.column_index,
            comment: columns.comment
        }
        order by columns.column_index
    ) as columns
from relations
inner join duckdb_columns() as columns
    on columns.schema_name = relations.schema_name
    and columns.table_name = relations.relation
where columns.database_name = current_database()
group by all
order by all

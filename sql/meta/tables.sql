-- Every table and view, with what its comments say of it and of its columns, as JSON.
with relations as (
    select
        schema_name,
        table_name,
        comment
    from duckdb_tables()
    where database_name = current_database() and not internal
    union all
    select
        schema_name,
        view_name as table_name,
        comment
    from duckdb_views()
    where database_name = current_database() and not internal
)

select
    relations.schema_name as schema,
    relations.table_name as name,
    any_value(relations.comment) as description,
    list(
        {
            'name': found.column_name,
            'type': found.data_type,
            'description': found.comment
        }
        order by found.column_index
    ) as columns
from relations
inner join duckdb_columns() as found
    on found.schema_name = relations.schema_name
    and found.table_name = relations.table_name
where found.database_name = current_database()
group by 1, 2
order by 1, 2

insert into meta.columns by name
with metrics as (
    select unnest(
        from_json(
            cast($rows as varchar),
            '[{
                "table_schema": "VARCHAR",
                "table_name": "VARCHAR",
                "column_name": "VARCHAR",
                "additivity": "VARCHAR",
                "key_position": "BIGINT"
            }]'
        )
    ) as metric
)

select
    found.schema_name as table_schema,
    found.table_name,
    found.column_name,
    found.data_type,
    found.comment as description,
    metrics.metric.additivity as additivity,
    metrics.metric.key_position as key_position,
    cast(found.column_index as bigint) as ordinal
from duckdb_columns() as found
left join metrics
    on metrics.metric.table_schema = found.schema_name
    and metrics.metric.table_name = found.table_name
    and metrics.metric.column_name = found.column_name
where found.database_name = current_database()
    and not found.internal
order by 1, 2, 7

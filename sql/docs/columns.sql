-- Every column of the models, from the published file.
select
    table_schema,
    table_name,
    column_name,
    data_type,
    additivity,
    key_position
from meta.columns
order by table_schema, table_name, ordinal

-- What the engine's parser, which serializes only SELECT statements, makes of a
-- text: its error, or the number of statements and their table functions.
select
    answer ->> '$.error_message' as problem,
    json_array_length(answer, '$.statements') as statements,
    answer ->> '$..function.function_name' as functions
from (
    select json_serialize_sql($1::varchar) as answer
)

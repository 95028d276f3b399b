-- The rows of versions in a merged file, each with the path of the file that its
-- version landed in.
select
    merged.* exclude (file_row_number),
    places.path as filename
from read_parquet(
    {{ file }},
    file_row_number = true,
    hive_partitioning = false
) as merged
inner join (
    select
        place.path,
        place.first,
        place.last
    from (
        select unnest(from_json(
            {{ places }},
            '[{"path": "VARCHAR", "first": "BIGINT", "last": "BIGINT"}]'
        )) as place
    )
) as places
    on merged.file_row_number between places.first and places.last
where merged.file_row_number between {{ first }} and {{ last }}

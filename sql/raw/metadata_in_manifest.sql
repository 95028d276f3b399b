-- The metadata of the files that versions in merged files landed in.
select
    file_name,
    pair[1] as key,
    pair[2] as value
from (
    select
        version.file_name,
        unnest(version.said) as pair
    from (
        select unnest(from_json(
            {{ said }},
            '[{"file_name": "VARCHAR", "said": [["VARCHAR"]]}]'
        )) as version
    )
)

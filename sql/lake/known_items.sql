-- Every item with its key.
select
    try(json_extract_string(readable(item), {{ key }})) as key,
    sha256(item) as hash
from {{ rows }}

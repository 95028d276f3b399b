create table {{ relation }} as
select
    *,
    {{ scd_id }} as dbt_scd_id,
    {{ updated_at }} as dbt_updated_at,
    {{ updated_at }} as dbt_valid_from,
    cast(null as timestamp) as dbt_valid_to
from ({{ rows }})

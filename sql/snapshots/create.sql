create table {{ relation }} as
select
    *,
    {{ scd_id }} as dbt_scd_id,
    {{ now }} as dbt_updated_at,
    {{ now }} as dbt_valid_from,
    cast(null as timestamp) as dbt_valid_to
from ({{ rows }})

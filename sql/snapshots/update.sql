-- Ends rows that no longer apply, and adds new or changed rows.
begin transaction;

create temp table fresh as
select
    *,
    {{ scd_id }} as dbt_scd_id,
    {{ now }} as dbt_updated_at
from ({{ rows }});

update {{ relation }} as stored
set dbt_valid_to = fresh.dbt_updated_at
from fresh
where stored.dbt_valid_to is null
    and {{ is_same_key }}
    and ({{ is_changed }});

update {{ relation }} as stored
set dbt_valid_to = {{ now }}
where stored.dbt_valid_to is null
    and {{ is_deleted }};

insert into {{ relation }} by name
select
    fresh.*,
    fresh.dbt_updated_at as dbt_valid_from,
    cast(null as timestamp) as dbt_valid_to
from fresh
where not exists (
    select 1
    from {{ relation }} as stored
    where stored.dbt_valid_to is null
        and {{ is_same_key }}
);

drop table fresh;

commit

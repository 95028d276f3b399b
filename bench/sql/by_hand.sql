-- What one would write by hand: the large tables as the models make them, rows
-- and order alike, and the small ones without their remainders.
create view base_users as
from read_parquet({{ base }} || '/users/*/*/data.parquet', hive_partitioning = false);
create view base_languages as
from read_parquet({{ base }} || '/user_languages/*/*/data.parquet', hive_partitioning = false);
create view base_parts as
from read_parquet({{ base }} || '/tokens_user_models/*/*/data.parquet', hive_partitioning = false);
create view base_consumers as
from read_parquet({{ base }} || '/tokens_users/*/*/data.parquet', hive_partitioning = false);
create view base_days as
from read_parquet({{ base }} || '/tokens_days/*/*/data.parquet', hive_partitioning = false);

create table fct_user_day as
select * exclude (fetched_at)
from base_users
order by org_id, activity_date, user_id;

create table fct_user_language_day as
select * exclude (fetched_at)
from base_languages
order by org_id, activity_date, user_id, language;

create table fct_user_model_day as
with
user_parts as (
    select
        org_id,
        activity_date,
        user_id,
        sum(billable_tokens) as billable_tokens
    from base_parts
    group by all
),
user_rest as (
    select
        org_id,
        activity_date,
        user_id,
        whole.billable_tokens - coalesce(part.billable_tokens, 0) as rest
    from base_consumers as whole
    left join user_parts as part using (org_id, activity_date, user_id)
),
day_rest as (
    select
        org_id,
        activity_date,
        whole.billable_tokens - coalesce(part.billable_tokens, 0) as rest
    from base_days as whole
    left join (
        select
            org_id,
            activity_date,
            sum(billable_tokens) as billable_tokens
        from base_consumers
        group by all
    ) as part using (org_id, activity_date)
)
select * from (
    select * exclude (fetched_at) from base_parts
    union all by name
    select
        org_id,
        activity_date,
        user_id,
        '(unattributed)' as model_id,
        rest as billable_tokens
    from user_rest
    where rest > 0
    union all by name
    select
        org_id,
        activity_date,
        '(unattributed)' as user_id,
        '(unattributed)' as model_id,
        rest as billable_tokens
    from day_rest
    where rest > 0
)
order by org_id, activity_date, user_id, model_id;

create table dim_user as
select
    org_id,
    user_id,
    max_by(user_email, activity_date) as user_email,
    min(activity_date) as first_active_date,
    max(activity_date) as last_active_date,
    count(*) as active_days
from fct_user_day
group by all;

create table dim_user_history as
select
    org_id,
    user_id,
    user_email,
    min(activity_date) as valid_from
from fct_user_day
group by all;

create table dim_model as
select
    org_id,
    model_id,
    max(model_tier) as model_tier,
    min(activity_date) as first_active_date,
    max(activity_date) as last_active_date
from fct_user_model_day
group by all;

create table reconciliation as
select
    org_id,
    activity_date,
    sum(billable_tokens) as billable_tokens,
    sum(tool_calls) as tool_calls,
    sum(messages) as messages,
    count(*) as people
from fct_user_day
group by all;

create table fct_model_day as
select * exclude (fetched_at)
from read_parquet({{ base }} || '/tokens_models/*/*/data.parquet', hive_partitioning = false);
create table fct_tool_day as
select * exclude (fetched_at)
from read_parquet({{ base }} || '/tools_tools/*/*/data.parquet', hive_partitioning = false);
create table fct_mcp_server_day as
select
    org_id,
    activity_date,
    server_key,
    sum(invocations) as invocations
from read_parquet(
    {{ base }} || '/tools_mcp_servers/*/*/data.parquet', hive_partitioning = false
)
group by all;
create table fct_client_day as
select * exclude (fetched_at)
from read_parquet({{ base }} || '/activity_clients/*/*/data.parquet', hive_partitioning = false)

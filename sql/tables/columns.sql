-- The unit and additivity of every column, and its place in the key. A column
-- name has the same unit in every table; the values of anomalies are credits.
select
    found.schema_name as schema,
    found.table_name as table,
    found.column_name as column,
    case
        when found.data_type = 'DATE' then 'day, UTC'
        when found.data_type like 'TIMESTAMP%' then 'time, UTC'
        when found.data_type in ('VARCHAR', 'BOOLEAN') then null
        when found.table_name = 'mart_anomalies'
            and found.column_name in (
                'value', 'expected', 'usual_low', 'usual_high'
            ) then 'credits'
        -- the mean of a metric has its unit
        when known.additivity in ('ratio', 'share')
            and not regexp_matches(found.column_name, '_of_cohort_avg$')
            then 'ratio'
        when regexp_matches(found.column_name, '(ratio|share)')
            and found.data_type = 'DOUBLE' then 'ratio'
        when regexp_matches(found.column_name, '_ms$') then 'milliseconds'
        when regexp_matches(found.column_name, '_seconds$') then 'seconds'
        when regexp_matches(found.column_name, '_pct$') then 'percent'
        when regexp_matches(found.column_name, 'bytes') then 'bytes'
        when regexp_matches(
            found.column_name,
            '(billable_tokens|credit|effective_limit)'
        ) then 'credits'
        when regexp_matches(found.column_name, '_tokens') then 'tokens'
        when regexp_matches(
            found.column_name,
            '(^|_)(price|cost|monthly_price)$'
        ) then 'currency'
        when regexp_matches(found.column_name, '(^|_)user_days')
            then 'user days'
        when regexp_matches(found.column_name, '(^|_)days(_|$)') then 'days'
        when regexp_matches(found.column_name, '(^|_)users(_|$)') then 'users'
        when found.data_type like '%INT' and known.additivity is not null
            then 'count'
        when regexp_matches(found.column_name, '^tool_calls(_of_cohort_avg)?$')
            then 'count'
    end as unit,
    known.additivity,
    known.key_position
from duckdb_columns() as found
left join meta.columns as known
    on known.table_schema = found.schema_name
    and known.table_name = found.table_name
    and known.column_name = found.column_name
where found.database_name = current_database()

(
    select current.*
    from read_parquet({{ current }}, hive_partitioning = false) as current
    anti join verify.intervals as intervals
        on intervals.resource = {{ resource }}
        and current.org_id = intervals.org_id
        and current.activity_date = intervals.activity_date

    union all by name

    select fresh.*
    from read_parquet({{ fresh }}, hive_partitioning = false) as fresh
    semi join verify.intervals as intervals
        on intervals.is_landed
        and intervals.resource = {{ resource }}
        and fresh.org_id = intervals.org_id
        and fresh.activity_date = intervals.activity_date
)

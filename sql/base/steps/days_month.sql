from base_rows
where strftime(activity_date, '%Y-%m') = {{ month }}
order by all

-- The days that a figure of the report lacks, by the resource that it comes from.
select
    org_id,
    cast(activity_date as varchar) as day,
    resource
from meta.intervals
inner join chosen using (org_id)
where
    resource in ('activity', 'productivity', 'tokens', 'tools', 'users')
    and status not in ('landed', 'empty')
    and activity_date between first_day and last_day
order by all

-- The days that a figure of the report lacks: its source is a resource that did
-- not answer, or the name of a figure that the response does not have.
with
    figures as (
        select
            org_id,
            activity_date,
            unnest(
                cast([
                    ('activity', 'sessions', sessions is null),
                    ('activity', 'user_messages', user_messages is null),
                    ('productivity', 'files', files_created + files_edited is null),
                    ('productivity', 'git_commits', git_commits is null),
                    ('productivity', 'git_prs_created', git_prs_created is null),
                    ('tokens', 'billable_tokens', billable_tokens is null),
                    ('tools', 'tool_calls', tool_calls is null)
                ] as struct(resource varchar, figure varchar, is_unknown boolean)[]),
                recursive := true
            )
        from org_days
    ),

    sources as (
        select org_id, activity_date, resource as source
        from meta.intervals
        where
            resource in ('activity', 'productivity', 'tokens', 'tools', 'users')
            and status not in ('landed', 'empty')

        union all

        select org_id, activity_date, figures.figure
        from meta.intervals
        inner join figures using (org_id, activity_date, resource)
        where status = 'landed' and figures.is_unknown
    )

select
    org_id,
    cast(activity_date as varchar) as day,
    source
from sources
inner join chosen using (org_id)
where activity_date between first_day and last_day
order by all

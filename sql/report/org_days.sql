-- The totals of each known day of the chosen organisations. Of a day that the
-- platform answered without rows, they are zero; what it did not answer is NULL.
create temp table org_days as
with
    answers as (
        select
            org_id,
            activity_date,
            bool_or(resource = 'activity' and status = 'empty') as is_activity_empty,
            if(is_activity_empty, 0, null) as activity,
            if(bool_or(resource = 'productivity' and status = 'empty'), 0, null) as productivity,
            if(bool_or(resource = 'tokens' and status = 'empty'), 0, null) as tokens,
            if(bool_or(resource = 'tools' and status = 'empty'), 0, null) as tools,
            bool_or(resource = 'users') as is_users_known
        from meta.intervals
        where
            resource in ('activity', 'productivity', 'tokens', 'tools', 'users')
            and status in ('landed', 'empty')
        group by 1, 2
    )

select
    org_id,
    activity_date,
    answers.is_activity_empty,
    answers.is_users_known,
    coalesce(days.daily_active_users, answers.activity) as daily_active_users,
    coalesce(days.sessions, answers.activity) as sessions,
    coalesce(days.user_messages, answers.activity) as user_messages,
    coalesce(days.tool_calls, answers.tools) as tool_calls,
    coalesce(days.billable_tokens, answers.tokens) as billable_tokens,
    coalesce(days.files_created, answers.productivity) as files_created,
    coalesce(days.files_edited, answers.productivity) as files_edited,
    coalesce(days.git_commits, answers.productivity) as git_commits,
    coalesce(days.git_prs_created, answers.productivity) as git_prs_created
from answers
full join main.fct_org_day as days using (org_id, activity_date)
inner join chosen using (org_id)
where activity_date between first_day and last_day

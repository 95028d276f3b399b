-- One day of everyone. The day endpoints' totals are sums of these, so that
-- every reconciliation of the warehouse holds.
create or replace temp table user_day as
with drawn as (
    select
        n,
        user_id,
        user_email,
        date {{ day }} as activity_date,
        100 + draw(n, {{ day }}, 'first', 90000) as first_tokens,
        draw(n, {{ day }}, 'second', 30000) as second_tokens,
        pick(models[:-3], n, {{ day }}, 'model') as first_model,
        pick(models[-2:], n, {{ day }}, 'model') as second_model,
        5 + draw(n, {{ day }}, 'read', 40) as reads,
        draw(n, {{ day }}, 'edit', 30) as edits,
        draw(n, {{ day }}, 'execute', 25) as executions,
        draw(n, {{ day }}, 'mcp', 4) as mcp_calls,
        draw(n, {{ day }}, 'skill', 3) as skill_calls,
        draw(n, {{ day }}, 'command', 5) as slash_commands,
        draw(n, {{ day }}, 'hook', 6) as hooks,
        draw(n, {{ day }}, 'created', 4) as files_created,
        draw(n, {{ day }}, 'edited', 20) as files_edited,
        draw(n, {{ day }}, 'commit', 4) as git_commits,
        draw(n, {{ day }}, 'pr', 2) as git_prs_created,
        1 + draw(n, {{ day }}, 'session', 5) as sessions,
        1 + draw(n, {{ day }}, 'turn', 20) as user_messages,
        1 + draw(n, {{ day }}, 'answer', 60) as assistant_messages,
        pick(
            ['auto-high', 'auto-medium', 'auto-low', 'manual'],
            n, {{ day }}, 'level'
        ) as delegation_level,
        pick(
            [['TypeScript', 'SQL'], ['Python'], ['Go', 'Rust'], []],
            n, {{ day }}, 'language'
        ) as languages
    from people, (select getvariable('models') as models)
)

select
    *,
    first_tokens + second_tokens as billable_tokens,
    reads + edits + executions + mcp_calls as tool_calls
from drawn

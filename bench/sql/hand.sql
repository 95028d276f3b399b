-- What one would write by hand: the raw user days as one typed table.
create table user_day as
with parsed as (
    select
        fetched_at,
        from_json(
            item,
            '{
                "user_id": "VARCHAR",
                "user_email": "VARCHAR",
                "date": "DATE",
                "tool_calls": "BIGINT",
                "billable_tokens": "DECIMAL(28,6)",
                "files_created": "BIGINT",
                "files_edited": "BIGINT",
                "git_commits": "BIGINT",
                "git_prs_created": "BIGINT",
                "mcp_calls": "BIGINT",
                "skill_calls": "BIGINT",
                "slash_commands": "BIGINT",
                "hooks": "BIGINT",
                "sessions": "BIGINT",
                "messages": "BIGINT",
                "user_messages": "BIGINT",
                "assistant_messages": "BIGINT",
                "primary_model": "VARCHAR",
                "primary_model_tier": "VARCHAR",
                "autonomy_ratio": "DOUBLE",
                "delegation_level": "VARCHAR",
                "languages": ["VARCHAR"]
            }'
        ) as row
    from read_parquet({{ files }})
)

select
    row.*,
    fetched_at
from parsed

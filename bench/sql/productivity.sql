select
    1 as page,
    0 as ordinal,
    to_json({
        date: {{ day }},
        files_created: cast(sum(files_created) as bigint),
        files_edited: cast(sum(files_edited) as bigint),
        by_extension: [
            {extension: '.ts', count: cast(sum(files_created) as bigint)},
            {extension: '.py', count: cast(sum(files_edited) as bigint)}
        ],
        by_language: [
            {language: 'TypeScript', count: cast(sum(files_created) as bigint)},
            {language: 'Python', count: cast(sum(files_edited) as bigint)}
        ],
        git_commits: cast(sum(git_commits) as bigint),
        git_prs_created: cast(sum(git_prs_created) as bigint)
    }) as item
from user_day

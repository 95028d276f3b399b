import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Database } from '../../src/lib/duckdb.ts'
import { packageRoot } from '../../src/lib/package.ts'

it.each([
  ['adoption/stg_platform__activity_by_client', 'group_key', 'client'],
  ['adoption/stg_platform__activity_clients', 'client', 'client'],
  ['usage/stg_platform__productivity_extensions', 'extension', 'extension'],
  ['usage/stg_platform__productivity_languages', 'language', 'language'],
  ['usage/stg_platform__tools_hooks', 'event', 'hook_event'],
  ['usage/stg_platform__tools_skills', 'name', 'skill_name'],
  ['usage/stg_platform__tools_slash_commands', 'name', 'command_name'],
])('%s: a missing and an empty name are (unnamed)', async (model, served, named) => {
  const path = join(packageRoot, 'dbt-like-models/models/staging', `${model}.sql`)
  const sql = (await readFile(path, 'utf8')).replace(/\{\{ source\([^)]*\) \}\}/, 'base')
  await using database = await Database.open(':memory:')
  await database.run(`create table base as
    select
        ${served},
        cast(null as varchar) as org_id,
        cast(null as date) as activity_date,
        cast(null as timestamp) as fetched_at,
        cast(null as varchar) as matcher,
        cast(null as varchar) as command,
        1 as count_value,
        1 as daily_active_users
    from (values (null), (''), ('b')) as names (${served})`)
  expect(await database.rows(`select ${named} as name from (${sql}) order by 1`)).toEqual([
    { name: '(unnamed)' },
    { name: '(unnamed)' },
    { name: 'b' },
  ])
})

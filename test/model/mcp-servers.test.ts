import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { Database } from '../../src/lib/duckdb.ts'
import { packageRoot } from '../../src/lib/package.ts'

const STAGING = 'dbt-like-models/models/staging/usage/stg_platform__tools_mcp_servers.sql'

it('MCP servers whose name is missing, empty or blank are one server in every table', async () => {
  const model = await readFile(join(packageRoot, STAGING), 'utf8')
  const sql = model.replace("{{ source('platform', 'tools_mcp_servers') }}", 'base')
  await using database = await Database.open(':memory:')
  await database.run(`create table base as from (values
      (null, null, 1), ('', '', 2), ('  ', '', 3), ('GitHub ', 'github', 4))
    as base (server, server_key, invocations)`)
  await database.run(`alter table base add column org_id varchar;
    alter table base add column activity_date date; alter table base add column fetched_at timestamp`)
  const rows = await database.rows(`select spelling, mcp_server from (${sql}) order by invocations`)
  expect(rows).toEqual([
    { spelling: '', mcp_server: '(unnamed)' },
    { spelling: '', mcp_server: '(unnamed)' },
    { spelling: '  ', mcp_server: '(unnamed)' },
    { spelling: 'GitHub ', mcp_server: 'github' },
  ])
})

import { cp, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { parseDay } from '../../src/lib/days.ts'
import { loadProject } from '../../src/model/project/project.ts'
import type { BuildResult } from '../../src/model/build/build.ts'
import { Database, literal } from '../../src/lib/duckdb.ts'
import { baseGlob } from '../../src/lake/layout.ts'
import { packageRoot } from '../../src/lib/package.ts'
import { compileProject } from '../../src/model/project/compile.ts'
import { analysis, listAnalyses } from '../../src/serve/query.ts'
import { folderOfFile } from '../support/folders.ts'
import { buildLake } from '../model/lake-build.ts'
import { Lake } from '../support/lake.ts'
import { expectPrinted, linesOf, rowsIn, unansweredBy } from './golden-case.ts'
import { landGolden } from './land.ts'

const CASE = join(packageRoot, 'test', 'golden', 'awkward')
const LAST_DAY = parseDay('2026-02-06', 'the last day')

/** They join seeds on any organisation: few rows on both sides. */
const SEEDS_BY_ORG = ['dim_event', 'fct_licence_day', 'mart_seats']

/** The lake has no whole week, and only analytics. */
const UNANSWERED = [
  ...['active_users_by_team', 'allowed_emails', 'autonomy_by_team', 'autonomy_by_week'],
  ...['autonomy_levels', 'cache_share', 'event_effects', 'incomplete_days', 'limits_at_risk'],
  ...['mcp_adoption', 'output_per_active_user', 'output_per_credit', 'policy_usage'],
  ...['ramp_by_cohort', 'readiness_by_month', 'session_outcomes', 'session_retention'],
  ...['settings_changes', 'spend_change', 'time_to_first_commit', 'unusual_days', 'user_lifecycle'],
]

let lake: Lake
let built: BuildResult
beforeAll(async () => {
  lake = await Lake.open(await folderOfFile())
  await landGolden(lake, CASE)
  built = await build()
})

async function build(): Promise<BuildResult> {
  await cp(join(CASE, 'seeds'), join(lake.data, 'seeds'), { recursive: true })
  return buildLake(lake, LAST_DAY)
}

async function inWarehouse<T>(work: (database: Database) => Promise<T>): Promise<T> {
  const database = await Database.open(join(lake.data, 'warehouse.duckdb'), { readOnly: true })
  try {
    return await work(database)
  } finally {
    database.close()
  }
}

function expected(table: string): Promise<object[]> {
  return rowsIn(join(CASE, 'expected'), table)
}

const tables = (await readdir(join(CASE, 'expected'))).map((file) => file.replace('.ndjson', ''))

describe('the golden lake', () => {
  it.each(tables)('makes the rows of %s that an independent script expects', async (table) => {
    const rows = await inWarehouse((database) => database.rows(`from main.${table}`))
    expect(linesOf(rows)).toEqual(linesOf(await expected(table)))
  })

  it('has rows to expect for every fact, dimension and map', async () => {
    const found = await inWarehouse((database) =>
      database.rows(`select table_name as name from duckdb_tables()
        where schema_name = 'main' and not starts_with(table_name, 'mart_') order by 1`),
    )
    expect(found.map(({ name }) => name)).toEqual(tables)
  })

  it('is expected to have the rows that the script prints', async () => {
    await expectPrinted('expect.mjs', 'awkward')
  })

  it('fails no check, and warns of what changed', () => {
    const warned = built.checks.filter(({ status }) => status !== 'pass')
    expect(warned.map(({ check }) => check)).toEqual(['assert_reconciliation_stays'])
  })

  it('answers every ready-made question whose comment does not say why it may be empty', async () => {
    const ask = (sql: string) => inWarehouse((database) => database.rows(sql))
    expect(await unansweredBy(ask)).toEqual(UNANSWERED)
  })

  it('counts for a team what its members spent while they were in it', async () => {
    const { sql } = analysis('spend_by_team')
    const month = { month_start_date: '2026-02-01', compared_days: '0', credits_before: null }
    expect(await inWarehouse((database) => database.rows(sql))).toMatchObject([
      { ...month, team: 'Red', credits: '9811.250000', percent: 92.8 },
      { ...month, team: '(unattributed)', credits: '447.749999', percent: 4.2 },
      { ...month, team: '(no team)', credits: '250.500001', percent: 2.4 },
      { ...month, team: 'Blue', credits: '60.000000', percent: 0.6 },
    ])
  })

  it.each([
    ['fct_model_day', 'billable_tokens', 'billable_tokens'],
    ['fct_user_model_day', 'billable_tokens', 'billable_tokens'],
    ['fct_tool_day', 'invocations', 'tool_calls'],
    ['fct_skill_day', 'invocations', 'skills_invocations'],
    ['fct_slash_command_day', 'invocations', 'slash_commands_invocations'],
    ['fct_hook_day', 'invocations', 'hooks_invocations'],
  ])('the rows of %s add up to the total, residual rows included', async (table, part, total) => {
    const short = await inWarehouse((database) =>
      database.rows(`select activity_date from main.fct_org_day as days
        where coalesce(${total}, 0) > (select coalesce(sum(${part}), 0) from main.${table} as parts
          where parts.activity_date = days.activity_date)`),
    )
    expect(short).toEqual([])
  })

  it('joins large tables by keys, and never every row of one with every row of another', async () => {
    const project = await loadProject(join(packageRoot, 'dbt-like-models'), {
      seedFolder: join(lake.data, 'seeds'),
    })
    const { models, tests } = compileProject(project, {
      sourceSql: (_, table) =>
        `read_parquet(${literal(baseGlob(lake.data, table))}, hive_partitioning = false)`,
    })
    const statements = [
      ...models.filter(
        ({ increment, seed, sql }) => increment === null && seed === null && sql !== '',
      ),
      ...tests,
      ...listAnalyses(),
    ]
    const found = await inWarehouse(async (database) => {
      const slow: string[] = []
      for (const { name, sql } of statements) {
        const plan = JSON.stringify(await database.rows(`explain ${sql}`))
        if (/NL_JOIN|NESTED_LOOP/.test(plan)) slow.push(name)
      }
      return slow
    })
    expect(found.filter((name) => !SEEDS_BY_ORG.includes(name))).toEqual([])
  })
})

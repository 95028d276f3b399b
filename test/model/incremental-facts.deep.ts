import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { buildAndPublish, loadProject, type BuildResult } from '../../src/model/index.ts'
import type { Project } from '../../src/model/index.ts'
import { Database, identifier, literal } from '../../src/lib/duckdb.ts'
import { packageRoot } from '../../src/lib/package.ts'
import { entitySql, openBase, putRaw, type RawItem } from '../normalize/flatten.ts'
import { folderOfFile } from '../support/folders.ts'
import { DEFAULTS } from './fixture.ts'

const INCREMENTAL = [
  'intermediate.int_fact_days',
  'main.fct_user_day',
  'main.fct_user_model_day',
  'main.fct_user_language_day',
  'intermediate.int_user_day_totals',
  'intermediate.int_token_part_totals',
  'intermediate.int_user_weeks',
  'intermediate.int_user_months',
  'intermediate.int_account_months',
  'intermediate.int_user_model_months',
]
const VERSIONS = [
  'int_user_day_versions',
  'int_user_language_day_versions',
  'int_user_week_versions',
  'int_user_month_versions',
  'int_account_month_versions',
]
const BASE = [
  'users',
  'user_languages',
  'tokens_days',
  'tokens_models',
  'tokens_users',
  'tokens_user_models',
]

/** The rows of one organisation on one day: each resource may change alone. */
interface Day {
  readonly users: readonly object[]
  readonly tokens: object | null
}

type Served = ReadonlyMap<string, Day>

const count = fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined })
const userId = fc.constantFrom('u1', 'u2', 'u3', '', undefined)

const user = fc.record({
  user_id: userId,
  user_email: fc.constantFrom('a@x.example', undefined),
  sessions: count,
  primary_model: fc.constantFrom('m1', 'm2', undefined),
  languages: fc.subarray(['SQL', 'Go', '']),
})

const models = fc.array(
  fc.record({ model_id: fc.constantFrom('m1', 'm2', undefined), billable_tokens: count }),
  { maxLength: 2 },
)

const account = fc.record({
  user_id: userId,
  user_email: fc.constantFrom('a@x.example', 'b@x.example', undefined),
  billable_tokens: count,
  input_tokens: count,
  by_model: models,
})

const day: fc.Arbitrary<Day> = fc.record({
  users: fc.array(user, { maxLength: 4 }),
  tokens: fc.option(
    fc.record({
      billable_tokens: count,
      input_tokens: count,
      by_model: models,
      by_user: fc.array(account, { maxLength: 3 }),
    }),
  ),
})

const place = fc
  .tuple(
    fc.constantFrom('org-1', 'org-2'),
    fc.constantFrom('01-29', '01-30', '01-31', '02-01', '02-02'),
  )
  .map(([org, date]) => `${org}/2026-${date}`)

/** The changes of one night: days that are new or restated, and removed days (null). */
const night = fc.array(fc.tuple(place, fc.option(day, { freq: 3 })), { maxLength: 4 })

it('law 6: N nights of incremental builds equal a full refresh, row for row', async () => {
  const project = await factsAlone()
  await fc.assert(
    fc.asyncProperty(fc.array(night, { minLength: 2, maxLength: 3 }), async (nights) => {
      const folder = await folderOfFile()
      let served: Served = new Map()
      for (const [index, changes] of nights.entries()) {
        const before = served
        served = changed(before, changes)
        await writeBase(folder, served)
        const result = await build(project, folder, 'nightly', false)
        await build(project, folder, 'whole', true)
        expect(await differences(folder)).toEqual([])
        if (index > 0) expectDaysBuilt(result, before, served)
      }
    }),
    { numRuns: 8 },
  )
})

/** The project's incremental models, and the models that they read. */
async function factsAlone(): Promise<Project> {
  const project = await loadProject(join(packageRoot, 'dbt-like-models'))
  const isWanted = (name: string): boolean =>
    INCREMENTAL.some((relation) => relation.endsWith(`.${name}`)) ||
    VERSIONS.includes(name) ||
    BASE.some((entity) => name === `stg_platform__${entity}`)
  const models = project.models
    .filter(({ name }) => isWanted(name))
    .map((model) => ({
      ...model,
      tests: model.tests.filter((test) => test.arguments.kind !== 'relationships_in_org'),
    }))
  expect(models).toHaveLength(INCREMENTAL.length + VERSIONS.length + BASE.length)
  return { ...project, models, tests: [], snapshots: [], unitTests: [] }
}

function changed(served: Served, changes: readonly (readonly [string, Day | null])[]): Served {
  const next = new Map(served)
  for (const [key, value] of changes) {
    if (value === null) next.delete(key)
    else next.set(key, value)
  }
  return next
}

/** Base as the project's own statements make it from the days served. */
async function writeBase(folder: string, served: Served): Promise<void> {
  const database = await openBase()
  const [users, tokens]: [RawItem[], RawItem[]] = [[], []]
  for (const [key, value] of served) {
    const [org = '', date = ''] = key.split('/')
    for (const item of value.users) users.push({ org, day: date, item })
    if (value.tokens !== null) tokens.push({ org, day: date, item: value.tokens })
  }
  for (const entity of BASE) {
    await putRaw(database, entity.startsWith('user') ? users : tokens)
    await database.run(
      `copy (${await entitySql(database, entity)}) to ${literal(baseFile(folder, entity))} (format parquet)`,
    )
  }
  database.close()
}

function baseFile(folder: string, entity: string): string {
  return join(folder, `${entity}.parquet`)
}

function build(
  project: Project,
  folder: string,
  name: string,
  fullRefresh: boolean,
): Promise<BuildResult> {
  return buildAndPublish({
    ...DEFAULTS,
    project,
    target: join(folder, `${name}.duckdb`),
    sourceSql: (_, table) => `read_parquet(${literal(baseFile(folder, table))})`,
    fullRefresh,
    runId: name,
    now: () => 0,
    emit: () => undefined,
    tempDirectory: join(folder, 'spill'),
  })
}

/** The relations whose rows differ between the two warehouses. */
async function differences(folder: string): Promise<string[]> {
  const database = await Database.open(':memory:')
  const found: string[] = []
  for (const name of ['nightly', 'whole']) {
    const file = literal(join(folder, `${name}.duckdb`))
    await database.run(`attach ${file} as ${identifier(name)} (read_only)`)
  }
  for (const relation of INCREMENTAL) {
    const [nightly, whole] = [`from nightly.${relation}`, `from whole.${relation}`]
    const rows = await database.rows(
      `(${nightly} except all ${whole}) union all (${whole} except all ${nightly})`,
    )
    if (rows.length > 0) found.push(relation)
  }
  database.close()
  return found
}

/** Only the days that changed are built again. */
function expectDaysBuilt({ models }: BuildResult, before: Served, now: Served): void {
  const days = [...now].filter(
    ([key, value]) => value.users.length > 0 && textOf(before.get(key)) !== textOf(value),
  )
  const made = models.find(({ name }) => name === 'fct_user_day')?.intervals
  expect(made).toBe(days.length)
}

function textOf(day: Day | undefined): string | undefined {
  return day === undefined ? undefined : JSON.stringify(day.users)
}

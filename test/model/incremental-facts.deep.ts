import { appendFile, cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { buildAndPublish, type BuildResult } from '../../src/model/build/build.ts'
import { loadProject } from '../../src/model/project/project.ts'
import type { Project } from '../../src/model/project/types.ts'
import { Database, identifier, literal } from '../../src/lib/duckdb.ts'
import { packageRoot } from '../../src/lib/package.ts'
import { entitySql, openBase, putRaw, type RawItem } from '../normalize/flatten.ts'
import { folderOfFile } from '../support/folders.ts'
import { DEFAULTS, modelsAlone } from './fixture.ts'

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
  'intermediate.int_spend_months',
]
const VERSIONS = [
  'int_user_day_versions',
  'int_user_language_day_versions',
  'int_user_week_versions',
  'int_user_month_versions',
  'int_account_month_versions',
  'int_spend_month_versions',
]
/** Models that other models decide; here, each night gives their rows. */
const GIVEN = {
  int_credit_days: {
    file: 'intermediate/spend/int_credit_days',
    types: {
      org_id: 'varchar',
      activity_date: 'date',
      month_start_date: 'date',
      billable_tokens: 'decimal(38, 6)',
      previous_date: 'date',
      previous_billable_tokens: 'decimal(38, 6)',
      next_date: 'date',
    },
  },
  dim_user_history: {
    file: 'marts/adoption/dim_user_history',
    types: {
      org_id: 'varchar',
      user_id: 'varchar',
      user_email: 'varchar',
      team: 'varchar',
      cost_centre: 'varchar',
      valid_from: 'date',
      valid_to: 'date',
      is_current: 'boolean',
    },
  },
} as const
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

const org = fc.constantFrom('org-1', 'org-2')
const date = fc
  .constantFrom('01-29', '01-30', '01-31', '02-01', '02-02')
  .map((monthDay) => `2026-${monthDay}`)
const place = fc.tuple(org, date).map((parts) => parts.join('/'))

/** The changes of one night: days that are new or restated, and removed days (null). */
const changes = fc.array(fc.tuple(place, fc.option(day, { freq: 3 })), { maxLength: 4 })

const creditDays = fc
  .uniqueArray(
    fc.record({
      org_id: org,
      activity_date: date,
      previous_date: fc.constantFrom('2025-12-30', null),
      next_date: fc.constantFrom('2026-03-01', null),
    }),
    { selector: ({ org_id, activity_date }) => `${org_id}/${activity_date}` },
  )
  .map((days) =>
    days.map((each) => ({ ...each, month_start_date: `${each.activity_date.slice(0, 7)}-01` })),
  )

/** A user is in one team until a day, and in another from it. */
const histories = fc
  .uniqueArray(fc.record({ org_id: org, user_id: fc.constantFrom('u1', 'u2'), change: date }), {
    selector: ({ org_id, user_id }) => `${org_id}/${user_id}`,
  })
  .chain((users) =>
    fc.tuple(
      ...users.map((each) =>
        fc
          .record({
            before: fc.constantFrom('Red', 'Blue', null),
            after: fc.constantFrom('Red', 'Blue', null),
          })
          .map(({ before, after }) => {
            const { change, ...key } = each
            return [
              {
                ...key,
                team: before,
                valid_from: '2026-01-29',
                valid_to: change,
                is_current: false,
              },
              { ...key, team: after, valid_from: change, valid_to: null, is_current: true },
            ]
          }),
      ),
    ),
  )
  .map((users) => users.flat().filter(({ valid_from, valid_to }) => valid_from !== valid_to))

/** Null: as in the night before. */
const night = fc.record({
  changes,
  int_credit_days: fc.option(creditDays),
  dim_user_history: fc.option(histories),
})
type Night = typeof night extends fc.Arbitrary<infer T> ? T : never

const FIRST: Night = {
  changes: [
    [
      'org-1/2026-01-30',
      {
        users: [],
        tokens: {
          billable_tokens: 3,
          input_tokens: 2,
          by_model: [],
          by_user: [{ user_id: 'u1', billable_tokens: 3, input_tokens: 2, by_model: [] }],
        },
      },
    ],
  ],
  int_credit_days: null,
  dim_user_history: null,
}
const SAME_DAYS: Night = { ...FIRST, changes: [] }
const OTHER_TEAM: Night[] = [
  FIRST,
  {
    ...SAME_DAYS,
    dim_user_history: [
      {
        org_id: 'org-1',
        user_id: 'u1',
        team: 'Red',
        valid_from: '2026-01-29',
        valid_to: null,
        is_current: true,
      },
    ],
  },
]
const OTHER_COMPARISON: Night[] = [
  FIRST,
  {
    ...SAME_DAYS,
    int_credit_days: [
      {
        org_id: 'org-1',
        activity_date: '2026-01-30',
        month_start_date: '2026-01-01',
        previous_date: null,
        next_date: '2026-03-01',
      },
    ],
  },
]

it('law 6: N nights of incremental builds equal a full refresh, row for row', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(night, { minLength: 2, maxLength: 3 }), async (nights) => {
      const folder = await folderOfFile()
      const project = await factsAlone(folder)
      let served: Served = new Map()
      for (const [index, each] of nights.entries()) {
        const before = served
        served = changed(before, each.changes)
        await writeBase(folder, served)
        await writeGiven(folder, each, index === 0)
        const result = await build(project, folder, 'nightly', false)
        await build(project, folder, 'whole', true)
        expect(await differences(folder)).toEqual([])
        if (index > 0) expectDaysBuilt(result, before, served)
      }
    }),
    { numRuns: 8, examples: [[OTHER_TEAM], [OTHER_COMPARISON]] },
  )
})

/** The project's incremental models, and the models that they read. */
async function factsAlone(folder: string): Promise<Project> {
  const models = join(folder, 'project')
  await cp(join(packageRoot, 'dbt-like-models'), models, { recursive: true })
  for (const [name, { file }] of Object.entries(GIVEN)) {
    const sql = `select * from {{ source('platform', '${name}') }}`
    await writeFile(join(models, 'models', `${file}.sql`), sql)
    const table = `          - name: ${name}\n            description: As given.\n`
    await appendFile(join(models, 'models/staging/_sources.yml'), table)
  }
  return selected(await loadProject(models))
}

function selected(project: Project): Project {
  const isWanted = (name: string): boolean =>
    INCREMENTAL.some((relation) => relation.endsWith(`.${name}`)) ||
    VERSIONS.includes(name) ||
    Object.hasOwn(GIVEN, name) ||
    BASE.some((entity) => name === `stg_platform__${entity}`)
  const models = project.models
    .filter(({ name }) => isWanted(name))
    .map((model) => ({
      ...model,
      tests: model.tests.filter((test) => test.arguments.kind !== 'relationships_in_org'),
    }))
  const count = INCREMENTAL.length + VERSIONS.length + BASE.length + Object.keys(GIVEN).length
  expect(models).toHaveLength(count)
  return modelsAlone(project, models)
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

/** The rows of models that the night gives. */
async function writeGiven(folder: string, night: Night, isFirst: boolean): Promise<void> {
  const database = await Database.open(':memory:')
  for (const name of ['int_credit_days', 'dim_user_history'] as const) {
    const given = night[name] ?? (isFirst ? [] : null)
    if (given === null) continue
    const columns = Object.entries(GIVEN[name].types)
    const rows = `from_json(${literal(JSON.stringify(given))}, ${literal(
      JSON.stringify([Object.fromEntries(columns.map(([column]) => [column, 'VARCHAR']))]),
    )})`
    const cells = columns.map(([column, type]) => `each.${column}::${type} as ${column}`)
    await database.run(
      `copy (select ${cells.join(', ')} from (select unnest(${rows}) as each))
        to ${literal(baseFile(folder, name))} (format parquet)`,
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

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { z } from 'zod'
import type { Emulator } from '../../src/emulator/emulator.ts'
import { Database, identifier } from '../../src/lib/duckdb.ts'
import { command } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { standIn } from '../support/stand-in.ts'

const FIRST_NIGHT = Date.parse('2026-01-22T05:00:00Z')
const SECOND_NIGHT = FIRST_NIGHT + 86_400_000

/** Texts of the platform's responses, and what it serves in their place. */
type Instead = readonly (readonly [served: string | RegExp, instead: string])[]

interface Organisation {
  /** The first day with rows; the platform answers for those before too. */
  readonly firstDay: string
  readonly users: number
  readonly instead: Instead
  /** From the second night of its data, also for rechecked days. */
  readonly later?: Instead
  /** Whether it is configured on the first night. */
  readonly isLate?: boolean
}

/**
 * All have users, computers and sessions of the same ids. Tool names differ between them; MCP
 * servers, clients and models are spelled and rated differently; histories begin on different
 * days, or have not begun; two join on the second night; and one has counts whose sum over a
 * history overflows.
 */
const ORGANISATIONS: Readonly<Record<string, Organisation>> = {
  clean: {
    firstDay: '2026-01-14',
    users: 6,
    instead: [['"github"', '"GitHub"']],
    later: [
      [/"sessions":(\d+)/g, '"sessions":2$1'],
      [/"output_tokens":(\d+)/g, '"output_tokens":3$1'],
    ],
  },
  unparsed: {
    firstDay: '2026-01-16',
    users: 9,
    instead: [
      ['"Read"', '"Read{\\"file_path\\":\\"src/b.ts\\"}"'],
      ['"Grep"', '"<tool>Grep"'],
      ['"GitHub"', '"GITHUB"'],
      ['"github"', '"GITHUB "'],
      ['"web"', '"portal"'],
      ['"thinking"', '"standard"'],
      [/"files_created":\d+/g, '"files_created":6000000000000000000'],
    ],
    later: [['"GITHUB "', '"gitHub"']],
  },
  empty: { firstDay: '2027-01-01', users: 3, instead: [], isLate: true },
  late: {
    firstDay: '2026-01-15',
    users: 4,
    instead: [
      ['"Execute"', '"{\\"name\\": \\"Exec"'],
      ['"linear"', '"LINEAR"'],
      ['"standard"', '"thinking"'],
    ],
    isLate: true,
  },
}

const SEEDS: Readonly<Record<string, string>> = {
  teams: 'user,team,cost_centre,valid_from\nedsger.floyd@acme.example,Red,,2026-01-01\n',
  events:
    'org_id,event_date,name,description,team\n,2026-01-19,Rollout,,\norg_clean,2026-01-20,Training,,Red\n',
  licences:
    'org_id,valid_from,team,seats,monthly_price,currency\n,2026-01-01,,10,20,EUR\norg_unparsed,2026-01-17,,12,20,EUR\n',
}

interface Platform {
  readonly emulator: Emulator
  readonly clock: { now: number }
}

async function startPlatform(name: string): Promise<Platform> {
  const { firstDay, users, instead, later = [] } = ORGANISATIONS[name] ?? { ...NONE }
  const clock = { now: FIRST_NIGHT }
  const emulator = await standIn({
    orgId: `org_${name}`,
    users,
    now: () => clock.now,
    intercept: async ({ host, answer }) => {
      if (host !== 'api') return undefined
      const response = await answer()
      const replaced = clock.now === FIRST_NIGHT ? instead : [...instead, ...later]
      let text = rowsSince(firstDay, await response.text())
      for (const [served, other] of replaced) text = text.replaceAll(served, other)
      return new Response(text, { status: response.status, headers: response.headers })
    },
  })
  return { emulator, clock }
}

const NONE: Organisation = { firstDay: '2026-01-14', users: 1, instead: [] }

const dated = z.looseObject({ data: z.array(z.looseObject({ date: z.string() })) })

/** A response without the rows of earlier days; unchanged where its rows have no date. */
function rowsSince(firstDay: string, text: string): string {
  const answer = dated.safeParse(JSON.parse(text)).data
  if (answer === undefined) return text
  return JSON.stringify({ ...answer, data: answer.data.filter(({ date }) => date >= firstDay) })
}

/** The published warehouse after each night of the named organisations. */
async function nightsOf(names: readonly string[]): Promise<Warehouse[]> {
  const data = await temporaryFolder()
  await mkdir(join(data, 'seeds'))
  const platforms: [name: string, platform: Platform][] = []
  for (const name of names) platforms.push([name, await startPlatform(name)])
  for (const [name, text] of Object.entries(SEEDS)) {
    await writeFile(join(data, 'seeds', `${name}.csv`), text)
  }
  const warehouses: Warehouse[] = []
  for (const now of [FIRST_NIGHT, SECOND_NIGHT]) {
    for (const [, { clock }] of platforms) clock.now = now
    const tonight = platforms.filter(
      ([name]) => now === SECOND_NIGHT || ORGANISATIONS[name]?.isLate !== true,
    )
    if (tonight.length === 0) continue
    await night(data, tonight)
    warehouses.push(await readWarehouse(data))
  }
  return warehouses
}

async function night(data: string, platforms: readonly [string, Platform][]): Promise<void> {
  const config = join(data, 'agent-warehouse.yaml')
  const lines = platforms.map(
    ([name, { emulator }]) =>
      `  - { name: ${name}, base_url: '${emulator.url}', app_url: '${emulator.appUrl}', key_env: KEY_${name} }\n`,
  )
  // fewer at once than a fleet has: then their base is made together
  await writeFile(config, `organisations_at_once: 2\norganisations:\n${lines.join('')}`)
  const keys = platforms.map(([name, { emulator }]): [string, string] => [
    `KEY_${name}`,
    emulator.keys.manager,
  ])
  const outcome = await command(['run', '--log', 'none', '--config', config], {
    ...Object.fromEntries(keys),
    AGENT_WAREHOUSE_DATA: data,
    AGENT_WAREHOUSE_RATE: '2000',
    // one organisation on one thread, several on all: rows that depend on their order would differ
    AGENT_WAREHOUSE_THREADS: platforms.length === 1 ? '1' : '',
    AGENT_WAREHOUSE_REDACTION_KEY: '5e'.repeat(32),
  })
  expect(outcome, outcome.err).toMatchObject({ code: 0 })
}

/** The rows of each table and view by `schema.name`, and the failures of the singular checks. */
interface Warehouse {
  readonly tables: ReadonlyMap<string, readonly string[]>
  readonly failures: ReadonlyMap<string, number>
}

/** Columns of the time and request of a fetch, which differ between runs. */
const OF_THE_RUN = [
  'request_id',
  'new_fetched_at',
  'old_fetched_at',
  'fetched_at',
  'day_digest', // of the name of the raw file, which has the time
  'month_digest',
  'week_digest',
  'sums_digest',
]

const catalogue = z.array(
  z.object({ relation: z.string(), columns: z.array(z.string()), has_org: z.boolean() }),
)

const singularChecks = z.array(z.object({ check_name: z.string(), failures: z.number() }))

async function readWarehouse(data: string): Promise<Warehouse> {
  const database = await Database.open(join(data, 'warehouse.duckdb'), { readOnly: true })
  try {
    const found = await database.rows(`
      select
        table_schema || '.' || table_name as relation,
        list(column_name order by ordinal_position) as columns,
        bool_or(column_name = 'org_id') as has_org
      from information_schema.columns group by 1 order by 1`)
    const tables = new Map<string, readonly string[]>()
    for (const { relation, columns, has_org } of catalogue.parse(found)) {
      if (!has_org) {
        expect(OF_THE_BUILD, `${relation} has no org_id`).toContain(relation)
        continue
      }
      const kept = columns.filter((name) => !OF_THE_RUN.includes(name) && !name.startsWith('dbt_'))
      const { rows } = await database.table(
        `select ${kept.map(identifier).join(', ')} from ${relation}`,
      )
      tables.set(relation, rows.map((row) => JSON.stringify(row)).toSorted())
    }
    const checks = await database.rows(`
      select check_name, cast(failures as integer) as failures
      from meta.check_results where model is null order by 1`)
    const failures = singularChecks.parse(checks)
    return { tables, failures: new Map(failures.map((each) => [each.check_name, each.failures])) }
  } finally {
    database.close()
  }
}

/** Tables about the run, the models and their checks as a whole. */
const OF_THE_BUILD = [
  'meta.build',
  'meta.check_results',
  'meta.columns',
  'meta.models',
  'meta.runs',
  'meta.source_freshness',
]

/** The user's own lines, also those for every organisation: the same in every build. */
const OF_THE_USER = [
  'intermediate.int_team_entries',
  'seeds.events',
  'seeds.licences',
  'seeds.teams',
  'snapshots.team_entries_history',
]

function expectUnion(
  fleet: Warehouse | undefined,
  alone: readonly (Warehouse | undefined)[],
): void {
  const builds = alone.flatMap((each) => (each === undefined ? [] : [each]))
  expect(builds.length).toBeGreaterThan(1)
  const names = [...(fleet?.tables.keys() ?? [])]
  for (const build of builds) expect([...build.tables.keys()]).toEqual(names)
  expect(names.length).toBeGreaterThan(80)
  for (const [name, rows] of fleet?.tables ?? []) {
    const own = builds.map(({ tables }) => tables.get(name) ?? [])
    if (!OF_THE_USER.includes(name)) expect.soft(rows, name).toEqual(own.flat().toSorted())
    else for (const each of own) expect.soft(rows, name).toEqual(each)
  }
  for (const [name, failures] of fleet?.failures ?? []) {
    const own = builds.map((build) => build.failures.get(name) ?? 0)
    expect.soft(failures, name).toBe(own.reduce((sum, each) => sum + each, 0))
  }
}

it('law 6: the warehouse of a fleet is the union of its organisations, night after night', async () => {
  const names = Object.keys(ORGANISATIONS)
  const [first, second] = await nightsOf(names)
  const alone: Warehouse[][] = []
  for (const name of names) alone.push(await nightsOf([name]))
  expectUnion(
    first,
    alone.map((nights) => nights.at(-2)),
  )
  expectUnion(
    second,
    alone.map((nights) => nights.at(-1)),
  )
  const rowsIn = (name: string): number => second?.tables.get(name)?.length ?? 0
  for (const name of ['main.fct_user_day', 'main.fct_restatement', 'meta.schema_drift']) {
    expect(rowsIn(name), name).toBeGreaterThan(10)
  }
}, 600_000)

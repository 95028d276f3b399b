import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parseDay } from '../../src/lib/days.ts'
import { Database, type Row } from '../../src/lib/duckdb.ts'
import { packageRoot } from '../../src/lib/package.ts'
import { listAnalyses } from '../../src/serve/query.ts'
import { command } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { buildLake } from '../model/lake-build.ts'
import { landPlatform } from '../model/platform/served.ts'
import { Lake } from '../support/lake.ts'
import { python } from './python.ts'
import { catalogueOf, differencesOf } from './relations.ts'
import { environmentOf, standIn } from '../support/stand-in.ts'

const FIRST_NIGHT = Date.parse('2026-02-03T05:00:00Z')
const MS_PER_DAY = 86_400_000

/** What the platform serves differently from the second night on, for the days that are rechecked. */
const RESTATED: Readonly<Record<string, readonly [RegExp, string]>> = {
  users: [/"sessions":(\d+)/g, '"sessions":2$1'],
  tokens: [/"output_tokens":(\d+)/g, '"output_tokens":3$1'],
  tools: [/"invocations":(\d+)/g, '"invocations":4$1'],
}

async function restatingPlatform() {
  const clock = { now: FIRST_NIGHT }
  const emulator = await standIn({
    users: 12,
    now: () => clock.now,
    intercept: async ({ path, answer }) => {
      const [pattern, changed] = RESTATED[path.split('/').at(-1) ?? ''] ?? []
      if (clock.now === FIRST_NIGHT || pattern === undefined || changed === undefined)
        return undefined
      const response = await answer()
      const text = (await response.text()).replaceAll(pattern, changed)
      return new Response(text, { status: response.status, headers: response.headers })
    },
  })
  const data = await temporaryFolder()
  const environment = environmentOf(emulator, data)
  const night = async (): Promise<void> => {
    const outcome = await command(['run', '--log', 'none'], environment)
    expect(outcome, outcome.err).toMatchObject({ code: 0 })
  }
  return { clock, data, night }
}

interface RunResults {
  readonly metadata: { readonly dbt_version: string }
  readonly results: readonly {
    readonly unique_id: string
    readonly status: string
    readonly failures: number | null
  }[]
}

/** `dbt build` of the same folder, into `<data>/dbt.duckdb`; returns the results by node. */
async function dbtBuild(data: string): Promise<RunResults> {
  const project = join(packageRoot, 'dbt-like-models')
  const target = join(data, 'dbt-target')
  const folders = ['--project-dir', project, '--profiles-dir', project, '--target-path', target]
  await python(
    'requirements.txt',
    ['-m', 'dbt.cli.main', '--log-path', target, '--no-use-colors', 'build', ...folders],
    { AGENT_WAREHOUSE_DATA: data, DO_NOT_TRACK: '1', HOME: data },
  )
  return resultsIn(target)
}

/** The results without exposures, which dbt reports as a no-op. */
async function resultsIn(folder: string): Promise<RunResults> {
  const text = await readFile(join(folder, 'run_results.json'), 'utf8')
  const { metadata, results } = JSON.parse(text) as RunResults
  const isExposure = ({ unique_id: id, status }: RunResults['results'][number]): boolean =>
    id.startsWith('exposure.') && status === 'no-op'
  return { metadata, results: results.filter((each) => !isExposure(each)) }
}

/** Status and failures of what both ran; the built-in runner skips unit tests that cannot have changed. */
function outcomesOf({ results }: RunResults): Record<string, unknown> {
  const tests = results.filter(({ unique_id: id }) => !id.startsWith('unit_test.'))
  return Object.fromEntries(
    tests.map(({ unique_id: id, status, failures }) => [id, [status, failures]]),
  )
}

interface Node {
  readonly checksum?: { readonly checksum: string }
  readonly depends_on?: { readonly nodes: readonly string[] }
  readonly description: string
  readonly original_file_path: string
  readonly columns?: Readonly<Record<string, { readonly description: string }>>
  readonly config?: { readonly materialized?: string; readonly severity?: string }
  readonly fqn: readonly string[]
}

interface Manifest {
  readonly nodes: Readonly<Record<string, Node>>
  readonly sources: Readonly<Record<string, Node>>
  readonly unit_tests: Readonly<Record<string, Node>>
  readonly exposures: Readonly<Record<string, Node>>
  readonly parent_map: Readonly<Record<string, readonly string[]>>
}

/** Everything that dbt defines in `manifest.json`, by id. */
async function nodesOf(folder: string): Promise<object> {
  const text = await readFile(join(folder, 'manifest.json'), 'utf8')
  const manifest = JSON.parse(text) as Manifest
  const { nodes, sources, unit_tests: tests, exposures, parent_map: parents } = manifest
  expect(Object.keys(exposures).length).toBeGreaterThan(2)
  const all = Object.entries({ ...nodes, ...sources, ...tests, ...exposures })
  const entries = all.map(([id, node]): [string, object] => [
    id,
    {
      checksum: id.startsWith('unit_test') ? undefined : node.checksum?.checksum,
      dependsOn: [...(node.depends_on?.nodes ?? [])].sort(),
      parents: [...(parents[id] ?? [])].sort(),
      description: node.description,
      file: node.original_file_path,
      fqn: node.fqn,
      kind: node.config?.materialized ?? node.config?.severity,
      columns: Object.entries(node.columns ?? {}).map(([name, each]) => [name, each.description]),
    },
  ])
  return Object.fromEntries(entries)
}

async function expectSame(data: string): Promise<void> {
  const pair = { ours: join(data, 'warehouse.duckdb'), theirs: join(data, 'dbt.duckdb') }
  const ours = await catalogueOf(pair.ours)
  const theirs = await catalogueOf(pair.theirs)
  expect(ours.relations.length).toBeGreaterThan(40)
  expect(theirs.relations).toEqual(ours.relations)
  expect(theirs.columns).toEqual(ours.columns)
  expect(await differencesOf(pair)).toEqual([])
  for (const { name, sql } of listAnalyses()) {
    expect(await rowsOf(pair.theirs, sql), name).toEqual(await rowsOf(pair.ours, sql))
  }
}

async function rowsOf(path: string, sql: string): Promise<Row[]> {
  const database = await Database.open(path, { readOnly: true })
  try {
    return await database.rows(sql)
  } finally {
    database.close()
  }
}

it('dbt and the built-in runner use the same version of DuckDB', async () => {
  const print = 'import duckdb; print(duckdb.__version__)'
  const theirs = (await python('requirements.txt', ['-c', print])).trim()
  const db = await Database.open(':memory:')
  const [row] = await db.rows('select version() as version')
  db.close()
  expect(`v${theirs}`).toBe(row?.['version'])
})

it('dbt builds the project without an error, with the tables and views of the built-in runner', async () => {
  const { clock, data, night } = await restatingPlatform()
  await night()
  const first = await dbtBuild(data)
  expect(first.metadata.dbt_version).toMatch(/^1\.12\./)
  expect(first.results.length).toBeGreaterThan(200)
  expect(first.results.filter(({ status }) => !/^(success|pass)$/.test(status))).toEqual([])
  expect(outcomesOf(await resultsIn(join(data, 'target')))).toEqual(outcomesOf(first))
  await expectSame(data)
  expect(await nodesOf(join(data, 'target'))).toEqual(await nodesOf(join(data, 'dbt-target')))

  clock.now += MS_PER_DAY
  await night()
  const second = await dbtBuild(data)
  // The restated numbers contradict each other, which causes warnings.
  expect(second.results.filter(({ status }) => /^(error|fail|skipped)$/.test(status))).toEqual([])
  expect(outcomesOf(await resultsIn(join(data, 'target')))).toEqual(outcomesOf(second))
  await expectSame(data)
  const db = await Database.open(join(data, 'dbt.duckdb'), { readOnly: true })
  const restated = 'select count(*) > 0 as some from fct_restatement'
  expect(await db.rows(restated)).toEqual([{ some: true }])
  db.close()
})

it('dbt builds the entity resources as the built-in runner does', async () => {
  const lake = await Lake.open(await temporaryFolder())
  await landPlatform(lake)
  await buildLake(lake, parseDay('2026-02-08', 'the last day'))
  const { results } = await dbtBuild(lake.data)
  expect(results.filter(({ status }) => !/^(success|pass)$/.test(status))).toEqual([])
  await expectSame(lake.data)
})

it('the oldest supported DuckDB reads everything in the published file', async () => {
  const { data, night } = await restatingPlatform()
  await night()
  const script = join(packageRoot, 'test', 'dbt', 'open_all.py')
  const path = join(data, 'warehouse.duckdb')
  const read = JSON.parse(await python('oldest.txt', [script, path])) as {
    version: string
    rows: Record<string, number>
  }
  expect(read.version).toBe('1.0.0')
  expect(Object.keys(read.rows).length).toBeGreaterThan(50)
  const db = await Database.open(path, { readOnly: true })
  for (const [relation, rows] of Object.entries(read.rows)) {
    expect(await db.rows(`select count(*) as rows from ${relation}`), relation).toEqual([
      { rows: String(rows) },
    ])
  }
  db.close()
})

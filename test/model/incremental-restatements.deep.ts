import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { buildAndPublish } from '../../src/model/build/build.ts'
import { loadProject } from '../../src/model/project/project.ts'
import type { Project } from '../../src/model/project/types.ts'
import { Database, literal } from '../../src/lib/duckdb.ts'
import { packageRoot } from '../../src/lib/package.ts'
import { folderOfFile } from '../support/folders.ts'
import { DEFAULTS, modelsAlone } from './fixture.ts'

const MODELS = ['stg_platform__restatements', 'fct_restatement']

/**
 * The days of February on which the versions of a resource's day were fetched: a day that is not
 * named has one version. Any version may be missing.
 */
const history = fc.dictionary(
  fc.constantFrom('users/2026-01-14', 'users/2026-01-15', 'tokens/2026-01-14', 'tools/2026-01-16'),
  fc.subarray([1, 2, 3, 4], { minLength: 2 }),
)

it('law 6: restatements of N nights equal a full refresh, row for row', async () => {
  const project = await restatementsAlone()
  await fc.assert(
    fc.asyncProperty(fc.array(history, { minLength: 2, maxLength: 4 }), async (nights) => {
      const folder = await folderOfFile()
      for (const versions of nights) {
        await writeBase(folder, versions)
        await build(project, folder, 'nightly', false)
        await build(project, folder, 'whole', true)
        expect(await rowsOf(folder, 'nightly')).toEqual(await rowsOf(folder, 'whole'))
      }
    }),
    { numRuns: 10 },
  )
})

async function restatementsAlone(): Promise<Project> {
  const project = await loadProject(join(packageRoot, 'dbt-like-models'))
  const models = project.models.filter(({ name }) => MODELS.includes(name))
  expect(models).toHaveLength(MODELS.length)
  return modelsAlone(project, models)
}

async function writeBase(folder: string, versions: Readonly<Record<string, readonly number[]>>) {
  const rows = Object.entries(versions).flatMap(([place, days]) => {
    const [resource = '', day = ''] = place.split('/')
    return days.slice(1).map((fetched, index) => {
      const before = days[index] ?? 0
      return {
        org_id: 'org-1',
        resource,
        activity_date: day,
        entity_key: 'org-1',
        metric: before === 2 ? null : 'sessions',
        old_value: String(before),
        new_value: String(fetched),
        old_fetched_at: `2026-02-0${String(before)}T00:00:00Z`,
        new_fetched_at: `2026-02-0${String(fetched)}T00:00:00Z`,
        fetched_at: '2026-02-08T00:00:00Z',
      }
    })
  })
  const database = await Database.open(':memory:')
  await database.run(`copy (
    select unnest(from_json(${literal(JSON.stringify(rows))}, '[{
      "org_id": "VARCHAR", "resource": "VARCHAR", "activity_date": "DATE",
      "entity_key": "VARCHAR", "metric": "VARCHAR",
      "old_value": "VARCHAR", "new_value": "VARCHAR",
      "old_fetched_at": "TIMESTAMPTZ", "new_fetched_at": "TIMESTAMPTZ", "fetched_at": "TIMESTAMPTZ"
    }]'), recursive := true)
  ) to ${literal(baseFile(folder))} (format parquet)`)
  database.close()
}

function baseFile(folder: string): string {
  return join(folder, 'restatements.parquet')
}

async function build(project: Project, folder: string, name: string, fullRefresh: boolean) {
  await buildAndPublish({
    ...DEFAULTS,
    project,
    target: join(folder, `${name}.duckdb`),
    sourceSql: () => `read_parquet(${literal(baseFile(folder))})`,
    fullRefresh,
    runId: name,
    now: () => 0,
    emit: () => undefined,
    tempDirectory: join(folder, 'spill'),
  })
}

async function rowsOf(folder: string, name: string) {
  const database = await Database.open(join(folder, `${name}.duckdb`), { readOnly: true })
  try {
    return await database.rows('select * from main.fct_restatement order by all')
  } finally {
    database.close()
  }
}

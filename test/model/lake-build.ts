import { join } from 'node:path'
import { HISTORY_START, type Day } from '../../src/lib/days.ts'
import {
  buildAndPublish,
  loadProject,
  type BuildOptions,
  type BuildResult,
} from '../../src/model/index.ts'
import { Database, literal } from '../../src/lib/duckdb.ts'
import { intervalRows, writeIntervals } from '../../src/lake/intervals.ts'
import { baseGlob } from '../../src/lake/layout.ts'
import { LedgerFile } from '../../src/lake/ledger.ts'
import { packageRoot } from '../../src/lib/package.ts'
import { ORG, type Lake } from '../support/lake.ts'
import { DEFAULTS } from './fixture.ts'

/** Builds this repository's project from a lake up to a day, with the seeds in its data folder. */
export async function buildLake(
  lake: Lake,
  last: Day,
  options: Partial<BuildOptions> = {},
): Promise<BuildResult> {
  await lake.normalize()
  const ledger = await LedgerFile.read(lake.data, ORG)
  const range = { first: HISTORY_START, last }
  await using database = await Database.open(':memory:')
  await writeIntervals(database, lake.data, intervalRows(ORG, ledger, range))
  return await buildAndPublish({
    ...DEFAULTS,
    project: await loadProject(join(packageRoot, 'dbt-like-models'), {
      seedFolder: join(lake.data, 'seeds'),
    }),
    target: join(lake.data, 'warehouse.duckdb'),
    sourceSql: (_, table) =>
      `read_parquet(${literal(baseGlob(lake.data, table))}, hive_partitioning = false)`,
    runId: 'run-1',
    now: () => 0,
    emit: () => undefined,
    tempDirectory: join(lake.data, 'spill'),
    ...options,
  })
}

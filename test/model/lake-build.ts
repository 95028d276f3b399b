import { join } from 'node:path'
import { HISTORY_START, type Day } from '../../src/lib/days.ts'
import { buildAndPublish, type BuildResult } from '../../src/model/build/build.ts'
import { loadProject } from '../../src/model/project/project.ts'
import type { BuildOptions } from '../../src/model/shared/context.ts'
import { Database, literal } from '../../src/lib/duckdb.ts'
import { entityRows, intervalRows, writeIntervals } from '../../src/lake/intervals.ts'
import { baseGlob } from '../../src/lake/layout.ts'
import { LedgerFile } from '../../src/lake/ledger.ts'
import { packageRoot } from '../../src/lib/package.ts'
import type { Lake } from '../support/lake.ts'
import { DEFAULTS } from './fixture.ts'

/**
 * Builds this repository's project from a lake up to a day, with the seeds in its data folder.
 * `others`: other organisations in that folder.
 */
export async function buildLake(
  lake: Lake,
  last: Day,
  options: Partial<BuildOptions> = {},
  others: readonly Lake[] = [],
): Promise<BuildResult> {
  const range = { first: HISTORY_START, last }
  const intervals = []
  for (const each of [lake, ...others]) {
    await each.normalize()
    const ledger = await LedgerFile.read(each.data, each.orgId)
    intervals.push(...intervalRows(each.orgId, ledger, range), ...entityRows(each.orgId, ledger))
  }
  await using database = await Database.open(':memory:')
  await writeIntervals(database, lake.data, intervals)
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

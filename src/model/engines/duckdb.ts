import { z } from 'zod'
import { Database, literal } from '../../lib/duckdb.ts'
import { processLimits } from '../../lib/machine.ts'
import type { BuildContext, RunningBuild, SparkSettings } from '../shared/context.ts'
import { sparkVersion } from './spark-submit.ts'

/**
 * The oldest storage format that supports the models: DuckDB 1.0.0 and later open
 * the published file.
 */
const STORAGE_VERSION = 'v1.0.0'

/**
 * The versions of Spark (if it builds the models), of DuckDB and of the storage format. Another
 * version may compute or write different tables.
 */
export async function engineOf(db: Database, spark?: SparkSettings): Promise<string> {
  const { rows } = await db.table('select version()')
  const own = `DuckDB ${z.string().parse(rows[0]?.[0])}, storage ${STORAGE_VERSION}`
  return spark === undefined ? own : `Spark ${await sparkVersion(spark)}, ${own}`
}

/**
 * Runs `work` in the file at `path`, which is complete on disk afterwards. The file has no log
 * while it is built, so it cannot be used after a crash.
 */
export async function inFile<T>(
  path: string,
  build: RunningBuild,
  work: (context: BuildContext) => Promise<T>,
): Promise<T> {
  const { tempDirectory, signal } = build
  const options = { ...processLimits().build, tempDirectory, signal }
  await using db = await Database.open(':memory:', options)
  await using second = await db.another()
  await db.run(
    `attach ${literal(path)} as warehouse (
      storage_version ${literal(STORAGE_VERSION)}, recovery_mode 'no_wal_writes'
    );
    use warehouse`,
  )
  await db.run("set checkpoint_threshold = '1TB'")
  await second.run('use warehouse')
  const result = await work({ ...build, db, second, tableColumns: new Map() })
  await second.run('use memory')
  await db.run('checkpoint warehouse; use memory; detach warehouse')
  return result
}

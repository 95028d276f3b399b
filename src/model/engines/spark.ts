import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { AppError } from '../../lib/errors.ts'
import type { BuildContext, SparkEngine } from '../build/context.ts'
import type { BuildPlan, NodePlan } from '../build/plan.ts'
import type { BuiltModels } from './materialize.ts'
import { writeJob } from './spark-job.ts'
import { Loader, type BuiltOnSpark } from './spark-loader.ts'
import { planSpark } from './spark-plan.ts'
import { submit } from './spark-submit.ts'

/**
 * Builds the models and runs their checks on Spark. Seeds and snapshots are made by DuckDB, as is
 * what a snapshot reads: they are input. Of the others DuckDB says the columns and their types,
 * Spark makes the rows, and its Parquet files are loaded as each model is finished. What the plan
 * reuses is not computed; of what it updates, only the intervals that are due.
 *
 * @throws AppError where Spark does not come to the end of its job.
 */
export async function buildOnSpark(
  context: BuildContext,
  plan: BuildPlan,
  spark: SparkEngine,
  buildHere: (nodes: readonly NodePlan[]) => Promise<BuiltModels>,
): Promise<BuiltOnSpark> {
  const sparkPlan = planSpark(plan)
  const here = await buildHere(sparkPlan.here)
  throwFirst(here.failures)
  if (sparkPlan.due.length === 0) return { ...here, counted: new Map() }
  const { signal, emit, runId } = context
  const folder = join(spark.folder, runId)
  await rm(spark.folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  try {
    const job = await writeJob(context, spark, plan, sparkPlan, folder)
    const { due } = sparkPlan
    const loader = new Loader(context, plan, { folder, master: spark.master, job, due, here })
    await submit(spark, {
      job: job.path,
      folder,
      folderUrl: spark.urlOf(folder),
      signal,
      onLine: (line) => {
        loader.take(line)
      },
      warn: (message) => {
        emit({ type: 'warning', message })
      },
    }).catch((error: unknown) => {
      throw loader.stopped ?? error
    })
    return await loader.result()
  } finally {
    await rm(spark.folder, { recursive: true, force: true })
  }
}

function throwFirst([first]: readonly AppError[]): void {
  if (first !== undefined) throw first
}

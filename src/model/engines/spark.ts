import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { BuildContext, SparkEngine } from '../build/context.ts'
import type { BuildPlan, NodePlan } from '../build/plan.ts'
import type { BuiltModels } from './materialize.ts'
import { writeJob } from './spark-job.ts'
import { Loader, type BuiltOnSpark } from './spark-loader.ts'
import { planSpark } from './spark-plan.ts'
import { submit } from './spark-submit.ts'

/**
 * Builds the models and runs their checks on Spark. DuckDB makes the inputs: seeds, snapshots, and
 * the models that snapshots read. For the other models DuckDB decides the columns and their types,
 * Spark makes the rows, and its Parquet files are loaded as each model is finished. Reused models
 * are not computed; of updated ones, only the due intervals are.
 *
 * @throws AppError if Spark does not finish its job.
 */
export async function buildOnSpark(
  context: BuildContext,
  plan: BuildPlan,
  spark: SparkEngine,
  buildHere: (nodes: readonly NodePlan[]) => Promise<BuiltModels>,
): Promise<BuiltOnSpark> {
  const sparkPlan = planSpark(plan)
  const here = await buildHere(sparkPlan.here)
  const [failure] = here.failures
  if (failure !== undefined) throw failure
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

import { z } from 'zod'
import { UsageError } from '../lib/errors.ts'
import { commandEnvironment, type Environment } from '../lib/trust.ts'

export const ENGINES = ['duckdb', 'spark'] as const

const setting = z.union([z.string(), z.number(), z.boolean()]).transform(String)

/** The part `spark:` of the configuration. */
export const sparkSchema = z.strictObject({
  master: z.string().min(1).optional(),
  home: z.string().min(1).optional(),
  data_url: z.string().min(1).optional(),
  settings: z.record(z.string().regex(/^spark\./, 'is not a setting of Spark'), setting).optional(),
})

const DEFAULT_MASTER = 'local[*]'
const URL_FORM = /^(file|hdfs|s3a|gs|abfss?):\/[^\s'"`?#]*$/

const PASSED = /^(SPARK_|PYSPARK_|HADOOP_|YARN_|JAVA_HOME$|VIRTUAL_ENV$)/

/**
 * Where Spark is, and where its machines find the data folder.
 *
 * @throws UsageError for a URL that Spark could not read.
 */
export function sparkConfig(
  file: z.output<typeof sparkSchema> | undefined,
  environment: Environment,
  { dataFolder, path }: { readonly dataFolder: string; readonly path: string },
) {
  const dataUrl = (file?.data_url ?? `file:${dataFolder}`).replace(/\/+$/, '')
  if (file?.data_url !== undefined && !URL_FORM.test(dataUrl)) {
    throw new UsageError(`${path} spark.data_url: '${dataUrl}' is not a URL that Spark can read`, {
      hint: 'Write the data folder as the cluster sees it: file:/mnt/data, hdfs://host/data, s3a://bucket/data.',
    })
  }
  return {
    master: file?.master ?? DEFAULT_MASTER,
    home: file?.home ?? null,
    settings: file?.settings ?? {},
    /** The environment of the started process, without keys of the platform. */
    environment: commandEnvironment(environment, PASSED),
    /** Without a slash at the end. */
    dataUrl,
  }
}

import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { z } from 'zod'
import { refuseTilde } from '../lib/disk.ts'
import { UsageError } from '../lib/errors.ts'
import { bytesOf, LEAST_MEMORY, limitsOf, readMachine, type Bound } from '../lib/machine.ts'
import { redactionKeyIn } from '../lib/secrets/redaction.ts'
import {
  configuredUmask,
  readTrusted,
  setting,
  commandEnvironment,
  type Environment,
} from '../lib/trust.ts'
import { readYamlText, YamlError } from '../lib/yaml.ts'
import { hooksSchema } from '../hooks/config.ts'
import { check } from './check.ts'
import {
  configuredOrganisations,
  organisationSchema,
  organisationsInCsv,
  resolveOrganisations,
  type OrganisationConfig,
} from './organisations.ts'

export type { OrganisationConfig } from './organisations.ts'

export const EXPORT_TARGETS = ['parquet', 'csv', 'duckdb'] as const
export type ExportTarget = (typeof EXPORT_TARGETS)[number]
export const REPORT_FORMATS = ['html', 'md'] as const
export type ReportFormat = (typeof REPORT_FORMATS)[number]
export const ENGINES = ['duckdb', 'spark'] as const

/** The configuration of a command; frozen. */
export type Config = ReturnType<typeof loadConfig>

/** Values of flags; undefined for a flag that was not given. */
export interface ConfigFlags {
  readonly config?: string | undefined
  readonly data?: string | undefined
  readonly baseUrl?: string | undefined
  readonly rate?: number | undefined
  readonly concurrency?: number | undefined
}

const FILE_NAME = 'agent-warehouse.yaml'

/**
 * Upper bounds, not targets: the governor learns what the platform allows and stays
 * within it. Eight concurrent requests are fewer than a browser makes, and limit the memory
 * of a run, whose tasks hold one page each.
 */
const DEFAULTS = {
  data: './data',
  rate: 1000,
  concurrency: 8,
}

/** A number, or text that spells one: not `true`, and not a list, which a cast would accept. */
const spelled = (schema: z.ZodType<number>): z.ZodType<number> =>
  z.preprocess(
    (value) => (typeof value === 'string' && value.trim() !== '' ? Number(value) : value),
    schema,
  )

const ABOVE_ZERO = 'must be a number above 0'
const positive = spelled(z.number(ABOVE_ZERO).positive(ABOVE_ZERO))
const WHOLE = 'must be a whole number above 0'
const count = spelled(z.number(WHOLE).int(WHOLE).positive(WHOLE).max(1000, 'must be at most 1000'))

const sparkSetting = z.union([z.string(), z.number(), z.boolean()]).transform(String)

/** The part `spark:` of the configuration. */
const sparkSchema = z.strictObject({
  master: z.string().min(1).default('local[*]'),
  home: z.string().min(1).optional(),
  data_url: z.string().min(1).optional(),
  settings: z
    .record(z.string().regex(/^spark\./, 'is not a setting of Spark'), sparkSetting)
    .default({}),
})

const fileSchema = z.strictObject({
  data: z.string().min(1).optional(),
  rate: positive.optional(),
  concurrency: count.optional(),
  organisations_at_once: count.default(8),
  threads: z.union([z.string(), z.number()]).optional(),
  memory: z.union([z.string(), z.number()]).optional(),
  keep_published: z.number().int().nonnegative().default(3),
  umask: z.union([z.string(), z.number()]).optional(),
  exports: z.array(z.enum(EXPORT_TARGETS)).default([]),
  report: z
    .strictObject({
      formats: z.array(z.enum(REPORT_FORMATS)).min(1),
      people: z.boolean().default(false),
    })
    .default({ formats: [], people: false }),
  organisations: z
    .array(organisationSchema)
    .min(1)
    .refine(
      (all) => new Set(all.map(({ name }) => name)).size === all.length,
      'two organisations have the same name',
    )
    .optional(),
  hooks: hooksSchema.prefault({}),
  engine: z.enum(ENGINES).default('duckdb'),
  spark: sparkSchema.prefault({}),
})

type FileConfig = z.infer<typeof fileSchema>

const memory = z.coerce.string().transform((text, { issues }) => {
  const bytes = bytesOf(text)
  if (bytes !== undefined && bytes >= LEAST_MEMORY) return bytes
  const least = `is too little: at least ${LEAST_MEMORY / 1e6}MB`
  const message = bytes === undefined ? 'is not a size' : least
  issues.push({ code: 'custom', input: text, message })
  return z.NEVER
})

/**
 * Flags > environment > agent-warehouse.yaml > defaults.
 *
 * @throws UsageError naming the place and the wrong value.
 */
export function loadConfig(flags: ConfigFlags, environment: Environment, cwd: string) {
  const path = resolve(cwd, flags.config ?? FILE_NAME)
  const file = readFile(path, flags.config !== undefined)
  const { organisations, listedIn = path } = file
  const given = { baseUrl: flags.baseUrl, environment, cwd, organisations, path: listedIn }
  const resolved = new Map<string, readonly OrganisationConfig[]>()

  /** A number and its origin; null if nothing sets it. */
  const bound = (
    name: 'rate' | 'concurrency' | 'threads' | 'memory',
    schema: z.ZodType<number>,
    inFlags?: number,
    hint?: string,
  ): Bound | null => {
    const variable = `AGENT_WAREHOUSE_${name.toUpperCase()}`
    const places = [
      [`--${name}`, inFlags],
      [variable, setting(environment, variable)],
      [`${path} ${name}`, file[name]],
    ] as const
    const [from, value] = places.find(([, each]) => each !== undefined) ?? []
    return from === undefined ? null : { value: check(schema, value, from, hint), from }
  }
  const inFile = file.data === undefined ? undefined : resolve(dirname(path), file.data)
  const data = flags.data ?? setting(environment, 'AGENT_WAREHOUSE_DATA') ?? inFile ?? DEFAULTS.data
  const dataFolder = checkFolder(resolve(cwd, data))
  const machine = {
    threads: bound('threads', count),
    memory: bound('memory', memory, undefined, SIZE_HINT),
  }
  return Object.freeze({
    /** Absolute path of the data folder. */
    dataFolder,
    rate: bound('rate', positive, flags.rate)?.value ?? DEFAULTS.rate,
    /** The highest number of requests in flight. */
    concurrency: bound('concurrency', count, flags.concurrency)?.value ?? DEFAULTS.concurrency,
    /** The highest number of organisations that are loaded at the same time. */
    organisationsAtOnce: file.organisations_at_once,
    /** The limits of the stages on this machine. */
    limits: limitsOf(readMachine(dataFolder), machine),
    umask: configuredUmask(environment, path, file.umask),
    keepPublished: file.keep_published,
    /** The key of redaction markers; null: the key in the data folder. */
    redactionKey: redactionKeyIn(environment),
    /** Exports that `run` makes after publishing. */
    exports: file.exports,
    /** Reports that `run` writes after publishing, and whether they name people. */
    report: file.report,
    /** Which channels are notified of which hook events. */
    hooks: file.hooks,
    /** The engine that builds the models. */
    engine: file.engine,
    spark: sparkConfig(file.spark, environment, { dataFolder, path }),
    /**
     * The organisations in `only`, by default all. The others need no key. Cached, so that a
     * command that prints a key runs once.
     *
     * @throws UsageError for an organisation without an address or a key, for an unknown name, and
     *   if the environment contradicts a file that lists several.
     */
    organisations: (only?: readonly string[]): readonly OrganisationConfig[] => {
      const key = JSON.stringify(only ?? null)
      const found = resolved.get(key) ?? resolveOrganisations(given, only)
      resolved.set(key, found)
      return found
    },
    /** Names and hosts of all organisations, in the order of the file, even without an address or a key. */
    hosts: (): readonly Pick<OrganisationConfig, 'name' | 'appUrl'>[] =>
      configuredOrganisations(given),
  })
}

const SIZE_HINT = 'Write a number with MB, GB, MiB or GiB, for example 2GB.'

/** Characters that DuckDB reads as a pattern, and control characters. */
const UNUSABLE = /[?*[\]\\\p{Cc}]/u

/** What a file in the data folder must not be named. */
export const FOLDERS = [
  ...['lake', 'lake/raw', 'lake/base', 'quarantine', 'runs', 'state'],
  ...['seeds', 'snapshots', 'published', 'exports', 'report', 'docs', 'target'],
]

/**
 * @throws UsageError for a path that DuckDB would misread, for a home folder that no shell has
 *   named, and for a file in place of the data folder or of a folder in it, on which a night would
 *   fail.
 */
function checkFolder(path: string): string {
  const [character] = UNUSABLE.exec(path) ?? []
  if (character !== undefined) {
    const has = `${JSON.stringify(path)} has ${JSON.stringify(character)} in its path`
    throw new UsageError(`the data folder ${has}`, {
      hint: 'The path must not contain ? * [ ] or \\, which DuckDB reads as a pattern, or a control character. Name another folder with --data or AGENT_WAREHOUSE_DATA.',
    })
  }
  refuseTilde(path, 'the data folder')
  if (isFile(path) || isFile(dirname(path))) {
    const problem = 'is a file, or is inside a file'
    throw new UsageError(`the data folder ${path} ${problem}`, {
      hint: 'Name a folder with --data or AGENT_WAREHOUSE_DATA; the warehouse will be a file in it.',
    })
  }
  const file = FOLDERS.map((name) => join(path, name)).find(isFile)
  if (file === undefined) return path
  throw new UsageError(`${file} is a file, but must be a folder`, {
    hint: 'Move it away, then run again.',
  })
}

function isFile(path: string): boolean {
  try {
    return !statSync(path).isDirectory()
  } catch {
    return false // later work in the folder reports the error
  }
}

function readFile(path: string, isNamed: boolean): FileConfig & { readonly listedIn?: string } {
  const text = readTrusted(path, 'the configuration')
  if (text === undefined) {
    if (isNamed) throw new UsageError(`--config: there is no file ${path}`)
    const other = path.replace(/yaml$/, 'yml')
    if (!existsSync(other)) return check(fileSchema, {}, path)
    throw new UsageError(`${other} would not be read`, { hint: `Rename it to ${FILE_NAME}.` })
  }
  const content = parsed(text, path)
  const { data } = z.looseObject({ organisations: z.string() }).safeParse(content)
  if (data === undefined) return check(fileSchema, content ?? {}, path)
  const listedIn = resolve(dirname(path), data.organisations)
  const list = readTrusted(listedIn, 'the list of organisations')
  if (list === undefined)
    throw new UsageError(`${path} organisations: there is no file ${listedIn}`)
  const organisations = organisationsInCsv(list, listedIn).map(({ place, settings }) =>
    check(organisationSchema, settings, place),
  )
  return { ...check(fileSchema, { ...data, organisations }, path), listedIn }
}

/** @throws UsageError for text that is not one YAML document. */
function parsed(text: string, path: string): unknown {
  try {
    return readYamlText(text).value ?? null
  } catch (cause) {
    if (!(cause instanceof YamlError)) throw cause
    const { message, line, column } = cause
    const where = line === undefined ? '' : ` at line ${String(line)}, column ${String(column)}`
    throw new UsageError(`${path}: ${message}${where}`, { cause })
  }
}

const URL_FORM = /^(file|hdfs|s3a|gs|abfss?):\/[^\s'"`?#]*$/

const PASSED = /^(SPARK_|PYSPARK_|HADOOP_|YARN_|JAVA_HOME$|VIRTUAL_ENV$)/

/**
 * Where Spark is, and where its machines find the data folder.
 *
 * @throws UsageError for a URL that Spark could not read.
 */
function sparkConfig(
  { master, home, data_url, settings }: FileConfig['spark'],
  environment: Environment,
  { dataFolder, path }: { readonly dataFolder: string; readonly path: string },
) {
  const dataUrl = (data_url ?? `file:${dataFolder}`).replace(/\/+$/, '')
  if (data_url !== undefined && !URL_FORM.test(dataUrl)) {
    throw new UsageError(`${path} spark.data_url: '${dataUrl}' is not a URL that Spark can read`, {
      hint: 'Write the data folder as the cluster sees it: file:/mnt/data, hdfs://host/data, s3a://bucket/data.',
    })
  }
  return {
    master,
    home: home ?? null,
    settings,
    /** The environment of the started process, without keys of the platform. */
    environment: commandEnvironment(environment, PASSED),
    /** Without a slash at the end. */
    dataUrl,
  }
}

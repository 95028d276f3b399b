import { statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parse as parseYaml } from 'yaml'
import { z } from 'zod'
import { messageOf, UsageError } from '../lib/errors.ts'
import { limitsOf, type Limits, readMachine } from '../lib/machine.ts'
import { suggestion } from '../lib/text.ts'
import { redactionKeyIn } from '../lib/secrets/redaction.ts'
import { configuredUmask, readTrusted } from '../lib/trust.ts'
import { hooksSchema, NO_HOOKS, type HooksConfig } from '../hooks/config.ts'
import { machineSettings } from './machine-settings.ts'
import {
  configuredOrganisations,
  organisationSchema,
  resolveOrganisations,
  setting,
  type Environment,
  type OrganisationConfig,
} from './organisations.ts'

export type { OrganisationConfig } from './organisations.ts'

export const EXPORT_TARGETS = ['parquet', 'csv', 'duckdb'] as const
export type ExportTarget = (typeof EXPORT_TARGETS)[number]

/** What every command needs. Made once, never changed. */
export interface Config {
  /** Absolute path of the data folder. */
  readonly dataFolder: string
  /** Requests a second, at most. */
  readonly rate: number
  /** Requests in flight, at most. */
  readonly concurrency: number
  /** What the stages may take of this machine. */
  readonly limits: Limits
  /** Whom new files keep out. */
  readonly umask: number
  /** How many earlier published files are kept. */
  readonly keepPublished: number
  /** What the marks of secrets are made with; null: a key that the data folder holds. */
  readonly redactionKey: string | null
  /** Exports that `run` makes after publishing. */
  readonly exports: readonly ExportTarget[]
  /** Who is notified of which hook events, and how. */
  readonly hooks: HooksConfig
  /**
   * All of them, or the one that is named: of the others no key is needed then.
   *
   * @throws UsageError when an organisation has no address or no key, there is none of
   *   that name, or the environment contradicts a file that lists several.
   */
  readonly organisations: (only?: string) => readonly OrganisationConfig[]
  /** Their names, in the order of the file. */
  readonly organisationNames: readonly string[]
  /** Where they are, whether or not they have an address and a key. */
  readonly hosts: () => readonly Pick<OrganisationConfig, 'name' | 'appUrl'>[]
}

/** Values from flags; what is undefined was not given. */
export interface ConfigFlags {
  readonly config?: string | undefined
  readonly data?: string | undefined
  readonly baseUrl?: string | undefined
  readonly rate?: number | undefined
  readonly concurrency?: number | undefined
}

const FILE_NAME = 'agent-warehouse.yaml'

/**
 * Bounds, not targets: the governor learns what the platform allows and stays
 * within it. So many requests at once are well below what a browser opens, and
 * a run's tasks, which hold one page each, are as many.
 */
const DEFAULTS = { data: './data', rate: 1000, concurrency: 8, keepPublished: 3 }

const positive = z.coerce.number('must be a number above 0').positive('must be a number above 0')
const count = z.coerce
  .number('must be a whole number above 0')
  .int('must be a whole number above 0')
  .positive('must be a whole number above 0')

const fileSchema = z.strictObject({
  data: z.string().min(1).optional(),
  rate: positive.optional(),
  concurrency: count.optional(),
  threads: z.union([z.string(), z.number()]).optional(),
  memory: z.union([z.string(), z.number()]).optional(),
  keep_published: z.number().int().nonnegative().optional(),
  umask: z.union([z.string(), z.number()]).optional(),
  exports: z.array(z.enum(EXPORT_TARGETS)).optional(),
  organisations: z.array(organisationSchema).min(1).optional(),
  hooks: hooksSchema.optional(),
})

type FileConfig = z.infer<typeof fileSchema>

/**
 * Flags > environment > agent-warehouse.yaml > defaults.
 *
 * @throws UsageError naming the place and the value that is wrong.
 */
export function loadConfig(flags: ConfigFlags, environment: Environment, cwd: string): Config {
  const path = resolve(cwd, flags.config ?? FILE_NAME)
  const file = readFile(path, flags.config !== undefined)
  const listed = { path, organisations: file.organisations }
  const given = { baseUrl: flags.baseUrl, environment, cwd }
  const known = new Map<string | undefined, readonly OrganisationConfig[]>()
  const pick = <T>(schema: z.ZodType<T>, name: 'rate' | 'concurrency', otherwise: T): T => {
    const variable = `AGENT_WAREHOUSE_${name.toUpperCase()}`
    const text = setting(environment, variable)
    if (flags[name] !== undefined) return check(schema, flags[name], `--${name}`)
    return text === undefined ? otherwise : check(schema, text, variable)
  }
  const data =
    flags.data ?? setting(environment, 'AGENT_WAREHOUSE_DATA') ?? file.data ?? DEFAULTS.data
  const dataFolder = checkFolder(resolve(cwd, data))
  refuseFile(dataFolder)
  refuseFilesWithin(dataFolder)
  return Object.freeze({
    dataFolder,
    rate: pick(positive, 'rate', file.rate ?? DEFAULTS.rate),
    concurrency: pick(count, 'concurrency', file.concurrency ?? DEFAULTS.concurrency),
    limits: limitsOf(readMachine(dataFolder), machineSettings(environment, path, file)),
    umask: configuredUmask(environment, path, file.umask),
    keepPublished: file.keep_published ?? DEFAULTS.keepPublished,
    redactionKey: redactionKeyIn(environment),
    exports: file.exports ?? [],
    hooks: file.hooks ?? NO_HOOKS,
    // A command that prints a key is run once.
    organisations: (only?: string) => {
      const found = known.get(only) ?? resolveOrganisations(given, listed, only)
      known.set(only, found)
      return found
    },
    hosts: () => configuredOrganisations(given, listed),
    organisationNames: configuredOrganisations(given, listed).map(({ name }) => name),
  })
}

function isFile(path: string): boolean {
  try {
    return !statSync(path).isDirectory()
  } catch {
    return false // what works in the folder says what is wrong with it
  }
}

/** @throws UsageError when the data folder is a file, or in one. */
function refuseFile(dataFolder: string): void {
  if (!isFile(dataFolder) && !isFile(dirname(dataFolder))) return
  throw new UsageError(
    `the data folder ${dataFolder} cannot be written or read: it is a file, or in one`,
    {
      hint: 'Name a folder with --data or AGENT_WAREHOUSE_DATA; the warehouse is a file in it.',
    },
  )
}

/** Folders of the data folder that work begins in. */
const FOLDERS = ['lake', 'lake/raw', 'lake/base', 'quarantine', 'runs', 'state']

/** @throws UsageError when a file is in the place of one of them: else a night of work would fail there. */
function refuseFilesWithin(dataFolder: string): void {
  const path = FOLDERS.map((name) => join(dataFolder, name)).find(isFile)
  if (path === undefined) return
  throw new UsageError(`${path} is a file, and a folder belongs there`, {
    hint: 'Move it away, then run again.',
  })
}

function readFile(path: string, isNamed: boolean): FileConfig {
  const text = readTrusted(path, 'the configuration')
  if (text === undefined) {
    if (!isNamed) return {}
    throw new UsageError(`--config: there is no file ${path}`)
  }
  let content: unknown
  try {
    content = parseYaml(text)
  } catch (error) {
    throw new UsageError(`${path}: ${(messageOf(error).split('\n')[0] ?? '').replace(/:$/, '')}`, {
      cause: error,
    })
  }
  return check(fileSchema, content ?? {}, path)
}

function check<T>(schema: z.ZodType<T>, value: unknown, where: string): T {
  if (Number.isNaN(value)) throw new UsageError(`${where}: that is not a number`)
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issue = result.error.issues[0]
  const path = issue === undefined || issue.path.length === 0 ? '' : ` ${issue.path.join('.')}`
  if (issue?.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys
    const known = keysAt(
      z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }),
      issue.path,
    )
    throw new UsageError(`${where}${path}: there is no setting '${key}'`, {
      hint: suggestion(key, known),
    })
  }
  const shown = typeof value === 'string' || typeof value === 'number' ? ` '${value}'` : ''
  throw new UsageError(`${where}${path}:${shown} ${issue?.message ?? 'is not valid'}`)
}

const schemaNode = z.looseObject({
  properties: z.record(z.string(), z.unknown()).optional(),
  additionalProperties: z.unknown().optional(),
  items: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
})

/** The settings that there may be at a path of the file, as its schema says. */
function keysAt(schema: unknown, path: readonly PropertyKey[]): string[] {
  const { data } = schemaNode.safeParse(schema)
  if (data === undefined) return []
  const { properties = {}, additionalProperties, items, anyOf = [], oneOf = [] } = data
  const [step, ...rest] = path
  const own =
    step === undefined
      ? Object.keys(properties)
      : keysAt(
          typeof step === 'number' ? items : (properties[String(step)] ?? additionalProperties),
          rest,
        )
  return [...new Set([...own, ...[...anyOf, ...oneOf].flatMap((each) => keysAt(each, path))])]
}

/** What DuckDB reads as a pattern or a query, and what no path shows. */
const UNUSABLE = /[?*[\]\\\p{Cc}]/u

/** @throws UsageError for a path that DuckDB would take for something else. */
function checkFolder(path: string): string {
  const [character] = UNUSABLE.exec(path) ?? []
  if (character === undefined) return path
  throw new UsageError(
    `the data folder ${JSON.stringify(path)} has ${JSON.stringify(character)} in its path`,
    {
      hint: 'DuckDB takes ? * [ ] and \\ for a pattern. Name another folder with --data or AGENT_WAREHOUSE_DATA.',
    },
  )
}

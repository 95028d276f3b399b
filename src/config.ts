import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parse as parseYaml } from 'yaml'
import { z } from 'zod'
import { addressOf } from './core/address.ts'
import { messageOf, UsageError } from './core/errors.ts'
import { umaskOf } from './core/umask.ts'
import { hooksSchema, NO_HOOKS, type HooksConfig } from './hooks/config.ts'

/** One organisation to pull from. The key itself is in the environment, never in a file. */
export interface OrganisationConfig {
  readonly name: string
  readonly baseUrl: string
  readonly appUrl: string | null
  /** The environment variable that holds the API key or JWT. */
  readonly keyVariable: string
  readonly key: string
}

export const EXPORT_TARGETS = ['parquet', 'csv'] as const
export type ExportTarget = (typeof EXPORT_TARGETS)[number]

/** What every command needs. Made once, never changed. */
export interface Config {
  /** Absolute path of the data folder. */
  readonly dataFolder: string
  /** Requests a second, at most. */
  readonly rate: number
  /** Requests in flight, at most. */
  readonly concurrency: number
  /** Whom new files keep out. */
  readonly umask: number
  /** How many earlier published files are kept. */
  readonly keepPublished: number
  /** Exports that `run` makes after publishing. */
  readonly exports: readonly ExportTarget[]
  /** Who is told of which hook events, and how. */
  readonly hooks: HooksConfig
  /**
   * All of them, or the one that is named: of the others no key is needed then.
   *
   * @throws UsageError when an organisation has no address or no key, or there is none of that name.
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

/** Of the one organisation that the environment describes. */
const DEFAULT_NAME = 'default'

/**
 * Bounds, not targets: the governor learns what the platform allows and stays
 * within it. So many requests at once are well below what a browser opens, and
 * a run's tasks, which hold one page each, are as many.
 */
const DEFAULTS = { data: './data', rate: 1000, concurrency: 8, keepPublished: 3 }

const positive = z.coerce.number().positive()
const count = z.coerce.number().int().positive()

const organisationSchema = z.strictObject({
  name: z.string().min(1),
  base_url: z.string().min(1),
  app_url: z.string().min(1).optional(),
  key_env: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable'),
})

const fileSchema = z.strictObject({
  data: z.string().min(1).optional(),
  rate: positive.optional(),
  concurrency: count.optional(),
  keep_published: z.number().int().nonnegative().optional(),
  exports: z.array(z.enum(EXPORT_TARGETS)).optional(),
  organisations: z.array(organisationSchema).min(1).optional(),
  hooks: hooksSchema.optional(),
})

type FileConfig = z.infer<typeof fileSchema>
type Environment = Readonly<Record<string, string | undefined>>

/**
 * Flags > environment > agent-warehouse.yaml > defaults.
 *
 * @throws UsageError naming the place and the value that is wrong.
 */
export function loadConfig(flags: ConfigFlags, environment: Environment, cwd: string): Config {
  const umask = umaskOf(environment)
  if (umask === undefined) {
    throw new UsageError(
      `AGENT_WAREHOUSE_UMASK: '${environment['AGENT_WAREHOUSE_UMASK'] ?? ''}' is not a mask that keeps all but owner and group out`,
      {
        hint: 'For example 027: the group may read. Without it files are their owner’s alone (077).',
      },
    )
  }
  const file = readFile(flags, cwd)
  const pick = <T>(schema: z.ZodType<T>, name: 'rate' | 'concurrency', otherwise: T): T => {
    const variable = `AGENT_WAREHOUSE_${name.toUpperCase()}`
    const text = nonEmpty(environment[variable])
    if (flags[name] !== undefined) return check(schema, flags[name], `--${name}`)
    return text === undefined ? otherwise : check(schema, text, variable)
  }
  const data =
    flags.data ?? nonEmpty(environment['AGENT_WAREHOUSE_DATA']) ?? file.data ?? DEFAULTS.data
  return Object.freeze({
    dataFolder: resolve(cwd, data),
    rate: pick(positive, 'rate', file.rate ?? DEFAULTS.rate),
    concurrency: pick(count, 'concurrency', file.concurrency ?? DEFAULTS.concurrency),
    umask,
    keepPublished: file.keep_published ?? DEFAULTS.keepPublished,
    exports: file.exports ?? [],
    hooks: file.hooks ?? NO_HOOKS,
    organisations: (only?: string) => organisationsOf(flags, environment, file, only),
    hosts: () => listed(flags, environment, file),
    organisationNames: file.organisations?.map(({ name }) => name) ?? [DEFAULT_NAME],
  })
}

type Listed = Omit<OrganisationConfig, 'key'>

/** As they are written, none of it checked. */
function listed(flags: ConfigFlags, environment: Environment, file: FileConfig): Listed[] {
  return (
    file.organisations?.map((each) => ({
      name: each.name,
      baseUrl: flags.baseUrl ?? each.base_url,
      appUrl: each.app_url ?? null,
      keyVariable: each.key_env,
    })) ?? [
      {
        name: DEFAULT_NAME,
        baseUrl: flags.baseUrl ?? nonEmpty(environment['AGENT_BASE_URL']) ?? '',
        appUrl: nonEmpty(environment['AGENT_APP_URL']) ?? null,
        keyVariable: 'AGENT_API_KEY',
      },
    ]
  )
}

function organisationsOf(
  flags: ConfigFlags,
  environment: Environment,
  file: FileConfig,
  only: string | undefined,
): readonly OrganisationConfig[] {
  const all = listed(flags, environment, file)
  const names = new Set(all.map(({ name }) => name))
  if (names.size < all.length) throw new UsageError(`${FILE_NAME}: two organisations have one name`)
  const asked = all.filter(({ name }) => only === undefined || name === only)
  if (asked.length === 0) {
    throw new UsageError(`there is no organisation '${only ?? ''}'`, {
      hint: `Configured: ${[...names].join(', ')}.`,
    })
  }
  return asked.map((each) => {
    const key = keyOf(each, environment)
    const baseUrl = checkUrl(each.baseUrl, `the address of '${each.name}'`)
    return { ...each, key, baseUrl, appUrl: checkAppUrl(each.appUrl, each.name) }
  })
}

function keyOf(
  organisation: Pick<OrganisationConfig, 'name' | 'appUrl' | 'keyVariable'>,
  environment: Environment,
): string {
  const key = nonEmpty(environment[organisation.keyVariable])
  const page = `${organisation.appUrl ?? '<app-url>'}/settings/api-keys`
  const hint = `A Manager or Owner generates one at ${page}; then: export ${organisation.keyVariable}=<key>`
  if (key === undefined)
    throw new UsageError(`no API key: ${organisation.keyVariable} is not set`, { hint })
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new UsageError(
      `the API key in ${organisation.keyVariable} has characters that no key has`,
      {
        hint,
      },
    )
  }
  return key
}

function checkUrl(text: string, what: string): string {
  const hint =
    'Set AGENT_BASE_URL to the platform’s public API host, for example https://api.example.com.'
  if (text === '') throw new UsageError('no API address: AGENT_BASE_URL is not set', { hint })
  return addressOf(text, what, hint)
}

function checkAppUrl(text: string | null, name: string): string | null {
  if (text === null) return null
  const hint =
    'Set AGENT_APP_URL to the platform’s web application host, for example https://app.example.com.'
  return addressOf(text, `the application address of '${name}'`, hint)
}

function readFile(flags: ConfigFlags, cwd: string): FileConfig {
  const path = resolve(cwd, flags.config ?? FILE_NAME)
  if (!existsSync(path)) {
    if (flags.config === undefined) return {}
    throw new UsageError(`--config: there is no file ${path}`)
  }
  let content: unknown
  try {
    content = parseYaml(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new UsageError(`${path}: ${messageOf(error).split('\n')[0] ?? ''}`, { cause: error })
  }
  return check(fileSchema, content ?? {}, path)
}

function check<T>(schema: z.ZodType<T>, value: unknown, where: string): T {
  if (Number.isNaN(value)) throw new UsageError(`${where}: that is not a number`)
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issue = result.error.issues[0]
  const path = issue === undefined || issue.path.length === 0 ? '' : ` ${issue.path.join('.')}`
  const shown = typeof value === 'string' || typeof value === 'number' ? ` '${value}'` : ''
  throw new UsageError(`${where}${path}:${shown} ${issue?.message ?? 'is not valid'}`)
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text.trim()
}

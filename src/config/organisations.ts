import { dirname, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { atLine, readCsv } from '../lib/csv.ts'
import { addressOf, setting, type Environment } from '../lib/trust.ts'
import { suggestion } from '../lib/text.ts'
import { UsageError } from '../lib/errors.ts'
import type { EventOf } from '../lib/events.ts'
import { isPlausibleOrgId } from '../lake/organisations.ts'
import { describeSource, readCredential, type KeySource } from './credential.ts'

/** An organisation to load. */
export interface OrganisationConfig {
  readonly name: string
  readonly baseUrl: string
  readonly appUrl: string | null
  /** Where the API key or JWT comes from, in words: `AGENT_API_KEY`. */
  readonly keySource: string
  readonly key: string
  /** True if the configuration file decides which key is sent, or where. */
  readonly isFromFile: boolean
  /** A warning about how the key is kept; null if there is none. */
  readonly keyWarning: string | null
  /**
   * Why nothing can be requested from one of several organisations, for example that its key is
   * not set: then `key` is empty. Null if it can.
   */
  readonly problem: UsageError | null
}

/** An organisation as configured, before its values are checked and its key is read. */
type ConfiguredOrganisation = ReturnType<typeof configuredOrganisations>[number]

/** The key of the organisation that the environment describes. */
const DEFAULT_SOURCE = { kind: 'variable', variable: 'AGENT_API_KEY' } as const

const KEY_SETTINGS = ['key_env', 'key_file', 'key_command'] as const

export const organisationSchema = z
  .strictObject({
    name: z.string().refine(isPlausibleOrgId, 'must be printable, and at most 200 bytes long'),
    base_url: z.string().min(1),
    app_url: z.string().min(1).optional(),
    key_env: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable')
      .optional(),
    key_file: z.string().min(1).optional(),
    key_command: z.array(z.string().min(1)).min(1).optional(),
  })
  .refine((each) => KEY_SETTINGS.filter((name) => each[name] !== undefined).length === 1, {
    message: `needs exactly one of ${KEY_SETTINGS.join(', ')}`,
  })

const columns = Object.keys(organisationSchema.shape).filter((name) => name !== 'key_command')

/**
 * Reads organisations from a CSV file, one per line; its columns have the names of the settings.
 * Returns unvalidated settings with their places.
 *
 * @throws UsageError, which names file and line, for any other file.
 */
export function organisationsInCsv(text: string, file: string) {
  const csv = readCsv(text, file)
  const unknown = csv.columns.find((name) => name !== '' && !columns.includes(name))
  if (unknown !== undefined) {
    throw new UsageError(`${file}:1: there is no column '${unknown}'`, {
      hint: suggestion(unknown, columns),
    })
  }
  const lacking = ['name', 'base_url'].find((name) => !csv.columns.includes(name))
  if (lacking !== undefined) {
    throw new UsageError(`${file}:1: the header has no column '${lacking}'`, {
      hint: `The first line names the columns: ${columns.join(',')}.`,
    })
  }
  if (csv.lines.length === 0) {
    throw new UsageError(`${file}:2: the file contains no organisation`, {
      hint: 'Write one organisation per line below the first line.',
    })
  }
  const lineOf = new Map<string, number>()
  return csv.lines.map(({ number, fields }) =>
    atLine(file, number, () => {
      const given = Object.entries(fields()).filter(([, value]) => value !== '')
      const settings = Object.fromEntries(given)
      const name = settings['name'] ?? ''
      const first = lineOf.get(name)
      if (first !== undefined) {
        throw new UsageError(`column 'name': '${name}' is already in line ${first}`, {
          hint: 'Remove one of the two lines.',
        })
      }
      lineOf.set(name, number)
      return { place: `${file}:${number}`, settings }
    }),
  )
}

type FileOrganisation = z.infer<typeof organisationSchema>

interface Given {
  readonly baseUrl: string | undefined
  readonly environment: Environment
  readonly cwd: string
  readonly organisations: readonly FileOrganisation[] | undefined
  /** The file that lists them. */
  readonly path: string
}

/**
 * All organisations. Flags take precedence over the environment, and the environment over
 * the file, but the environment is used only for a single organisation.
 */
export function configuredOrganisations({ environment, baseUrl, organisations, path }: Given) {
  const address = baseUrl ?? setting(environment, 'AGENT_BASE_URL')
  const application = setting(environment, 'AGENT_APP_URL') ?? null
  if (organisations === undefined) {
    return [{ name: 'default', baseUrl: address ?? '', appUrl: application, fileSource: undefined }]
  }
  const listed = organisations.map((each) => ({
    name: each.name,
    baseUrl: baseUrl ?? each.base_url,
    appUrl: each.app_url ?? null,
    /** The key's source in the file; undefined without a file. */
    fileSource: sourceInFile(each, path),
  }))
  const [one] = listed
  if (one === undefined || listed.length > 1) return listed
  return [{ ...one, baseUrl: address ?? one.baseUrl, appUrl: application ?? one.appUrl }]
}

/**
 * Checks the organisations in `only`, by default all, and reads their keys. Of several, one without
 * an address or a key has a problem, and does not stop the others.
 *
 * @throws UsageError for the only organisation without an address or a key, for an unknown name, and
 *   if the environment describes one organisation and the file several.
 */
export function resolveOrganisations(
  given: Given,
  only: readonly string[] | undefined,
): OrganisationConfig[] {
  const all = configuredOrganisations(given)
  const names = new Set(all.map(({ name }) => name))
  if (all.length > 1) refuseConflict(given, all)
  if (only !== undefined) refuseUnknown(only, names)
  const selected = all.filter(({ name }) => only?.includes(name) ?? true)
  const ofEnvironment = all.length > 1 ? undefined : sourceOf(given)
  return selected.map((each) => {
    const { fileSource, ...own } = each
    const source = ofEnvironment ?? fileSource ?? DEFAULT_SOURCE
    const from = { keySource: describeSource(source), isFromFile: fileSource !== undefined }
    try {
      return { ...own, ...from, ...checked(each, source, given.environment), problem: null }
    } catch (error) {
      if (selected.length === 1 || !(error instanceof UsageError)) throw error
      return { ...own, ...from, key: '', keyWarning: null, problem: error }
    }
  })
}

/** @throws UsageError for an unknown name; the hint names similar ones. */
export function refuseUnknown(names: readonly string[], known: ReadonlySet<string>): void {
  const unknown = names.find((name) => !known.has(name))
  if (unknown === undefined) return
  throw new UsageError(`there is no organisation '${unknown}'`, {
    hint: suggestion(unknown, known),
  })
}

function checked(
  { name, baseUrl, appUrl }: ConfiguredOrganisation,
  source: KeySource,
  environment: Environment,
) {
  const { key, warning } = readCredential(source, environment, keyHint(source, appUrl))
  const baseHint =
    'Set AGENT_BASE_URL to the platform’s public API host, for example https://api.example.com.'
  const appHint =
    'Set AGENT_APP_URL to the platform’s web application host, for example https://app.example.com.'
  if (baseUrl === '') {
    throw new UsageError('no API address: AGENT_BASE_URL is not set', { hint: baseHint })
  }
  return {
    baseUrl: addressOf(baseUrl, `the address of '${name}'`, baseHint),
    appUrl:
      appUrl === null ? null : addressOf(appUrl, `the application address of '${name}'`, appHint),
    key,
    keyWarning: warning,
  }
}

/** With several organisations, it is unclear which one an address or a key of the environment belongs to. */
function refuseConflict(
  { environment, path }: Given,
  all: readonly ConfiguredOrganisation[],
): void {
  const agreements: Readonly<Record<string, (value: string) => boolean>> = {
    AGENT_BASE_URL: (value) => all.every(({ baseUrl }) => isSameAddress(baseUrl, value)),
    AGENT_APP_URL: (value) => all.every(({ appUrl }) => isSameAddress(appUrl ?? '', value)),
    AGENT_API_KEY: () =>
      all.some(({ fileSource }) => isDeepStrictEqual(fileSource, DEFAULT_SOURCE)),
    AGENT_API_KEY_FILE: () => false,
  }
  for (const [variable, agreesWithFile] of Object.entries(agreements)) {
    const value = setting(environment, variable)
    if (value === undefined || agreesWithFile(value)) continue
    throw new UsageError(
      `${variable} is set, and ${path} lists ${all.length} organisations: it is not known to which one it belongs`,
      { hint: `Unset ${variable}, or name another file with --config.` },
    )
  }
}

function isSameAddress(one: string, other: string): boolean {
  const plain = (text: string): string => text.replace(/\/+$/, '').toLowerCase()
  return plain(one) === plain(other)
}

/** The key's source in the environment. @throws UsageError if there are two. */
function sourceOf({ environment, cwd }: Given): KeySource | undefined {
  const file = setting(environment, 'AGENT_API_KEY_FILE')
  if (setting(environment, 'AGENT_API_KEY') === undefined) {
    if (file === undefined) return undefined
    return { kind: 'file', path: resolve(cwd, file), named: 'AGENT_API_KEY_FILE' }
  }
  if (file === undefined) return DEFAULT_SOURCE
  throw new UsageError('AGENT_API_KEY and AGENT_API_KEY_FILE are both set', {
    hint: 'Unset one of them.',
  })
}

function sourceInFile(each: FileOrganisation, path: string): KeySource {
  const folder = dirname(path)
  if (each.key_file !== undefined) {
    return { kind: 'file', path: resolve(folder, each.key_file), named: 'key_file' }
  }
  if (each.key_command !== undefined) return { kind: 'command', argv: each.key_command, folder }
  return { kind: 'variable', variable: each.key_env ?? '' }
}

function keyHint(source: KeySource, appUrl: string | null): string {
  const page = `${appUrl ?? '<app-url>'}/settings/api-keys`
  const then = {
    variable: `then: export ${describeSource(source)}=<key>`,
    file: 'then: write it into the file, with mode 0600',
    command: 'the command must print it',
  }[source.kind]
  return `A Manager or Owner generates one at ${page}; ${then}`
}

/**
 * Reports where the credential of an organisation is sent and where it comes from, because a
 * configuration file can name any host, and any variable, file or command.
 */
export function addressedEvent(
  organisation: OrganisationConfig,
): EventOf<'organisation.addressed'> {
  const { name, baseUrl, appUrl, keySource } = organisation
  const addresses = [...new Set([baseUrl, appUrl].filter((url) => url !== null))]
  return { type: 'organisation.addressed', name, addresses, keySource }
}

import { existsSync, writeFileSync, type Dirent } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  fromPathSegment,
  isFolder,
  listIfThere,
  pathSegment,
  codeOf,
  orIfMissing,
  removeFile,
} from '../lib/files.ts'
import { isDay, type Day } from '../lib/day.ts'

/** `<data>/lake/raw/<resource>/org=<org>/date=<day>`: every version of one day, as served. */
export function rawFolder(dataFolder: string, orgId: string, resource: string, day: Day): string {
  return join(dataFolder, 'lake', 'raw', dayPath(orgId, resource, day))
}

/** One version of one day in the lake. */
export interface RawFile {
  readonly resource: string
  readonly day: Day
  readonly file: string
}

/** The path of a version in the folder of its day, also if its rows are in a merged file. */
export function versionPath(
  dataFolder: string,
  orgId: string,
  { resource, day, file }: RawFile,
): string {
  return join(rawFolder(dataFolder, orgId, resource, day), file)
}

/** `<data>/quarantine/<resource>/org=<org>/date=<day>`: versions that failed verification. */
export function quarantineFolder(
  dataFolder: string,
  orgId: string,
  resource: string,
  day: Day,
): string {
  return join(dataFolder, 'quarantine', dayPath(orgId, resource, day))
}

function dayPath(orgId: string, resource: string, day: Day): string {
  return join(resource, `org=${pathSegment(orgId)}`, `date=${day}`)
}

/** `<data>/lake/base/<entity>/org=<org>/month=<month>/data.parquet`. */
export function baseFile(dataFolder: string, orgId: string, entity: string, month: string): string {
  return join(baseOf(dataFolder, orgId, entity), `month=${month}`, 'data.parquet')
}

function baseOf(dataFolder: string, orgId: string, entity: string): string {
  return join(dataFolder, 'lake', 'base', entity, `org=${pathSegment(orgId)}`)
}

/**
 * The name of a version: when it was fetched, then the digest of its rows, so
 * that names sort by age and a version is recognised without being opened.
 */
export function versionName(fetchedAt: number, digest: string): string {
  return `${timeInName(fetchedAt)}-${digest.slice(0, 16)}.parquet`
}

/** Milliseconds since the epoch as `20260301T060000123Z`. */
export function timeInName(time: number): string {
  return new Date(time).toISOString().replaceAll(/[-:.]/g, '')
}

/** True when the version holds rows with this digest. */
export function isVersionOf(name: string, digest: string): boolean {
  return name.endsWith(`-${digest.slice(0, 16)}.parquet`)
}

/** The fetch time in a version's name, milliseconds since the epoch; NaN for any other name. */
export function versionTime(name: string): number {
  const [, date, hour, minute, second, ms] = /^(\d{8})T(\d\d)(\d\d)(\d\d)(\d{3})Z-/.exec(name) ?? []
  if (date === undefined) return NaN
  const day = `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}`
  return Date.parse(`${day}T${hour}:${minute}:${second}.${ms}Z`)
}

export function rawOf(dataFolder: string, orgId: string, resource: string): string {
  return join(dataFolder, 'lake', 'raw', resource, `org=${pathSegment(orgId)}`)
}

export async function resourcesInLake(dataFolder: string): Promise<string[]> {
  return foldersIn(join(dataFolder, 'lake', 'raw'))
}

/** Folders with other names are ignored. */
export async function organisationsInLake(dataFolder: string): Promise<string[]> {
  const raw = join(dataFolder, 'lake', 'raw')
  const resources = await resourcesInLake(dataFolder)
  const segments = await Promise.all(resources.map((name) => foldersIn(join(raw, name), 'org=')))
  return [...new Set(segments.flat())].flatMap((name) => fromPathSegment(name) ?? []).sort()
}

/**
 * In place of an organisation's id. Its base holds one file without rows of each entity, so that a
 * model finds a typed, empty table where nothing has landed. No organisation's id is empty. Its
 * folder sorts last: DuckDB estimates the rows of a glob by those of the first file, and joins
 * depend on the estimate.
 */
export const NO_ORGANISATION = ''

/** Base folders of other organisations, relative to the data folder. */
export async function foreignBase(
  dataFolder: string,
  orgIds: readonly string[],
): Promise<string[]> {
  const own = new Set(orgIds.map(pathSegment))
  const entities = await foldersIn(join(dataFolder, 'lake', 'base'))
  const found = await Promise.all(
    entities.map(async (entity) => {
      const orgs = await foldersIn(join(dataFolder, 'lake', 'base', entity), 'org=')
      const foreign = orgs.filter((org) => !own.has(org))
      return foreign.map((org) => join('lake', 'base', entity, `org=${org}`))
    }),
  )
  return found.flat()
}

/** Names of folders, also of links to folders, without their prefix, sorted. */
export async function foldersIn(folder: string, prefix = ''): Promise<string[]> {
  const entries = await listIfThere(folder)
  const isWanted = (entry: Dirent): boolean =>
    entry.isDirectory() || (entry.isSymbolicLink() && isFolder(join(folder, entry.name)))
  return entries
    .filter((entry) => entry.name.startsWith(prefix) && isWanted(entry))
    .map((entry) => entry.name.slice(prefix.length))
    .sort()
}

/** The months, `YYYY-MM`, that one organisation has a base file of. */
export async function baseMonths(
  dataFolder: string,
  orgId: string,
  entity: string,
): Promise<string[]> {
  const months = await foldersIn(baseOf(dataFolder, orgId, entity), 'month=')
  return months.filter((month) => existsSync(baseFile(dataFolder, orgId, entity, month)))
}

/** Every month of a base entity, of every organisation. */
export function baseGlob(dataFolder: string, entity: string): string {
  return join(dataFolder, 'lake', 'base', entity, 'org=*', 'month=*', 'data.parquet')
}

export function warehousePath(dataFolder: string): string {
  return join(dataFolder, 'warehouse.duckdb')
}

/** The base folder of a point in time, laid out like a data folder. */
export function pastFolder(dataFolder: string): string {
  return join(dataFolder, 'state', 'as-of')
}

/** Only the seeds of a data folder belong in a repository: the rest holds personal data. */
const IGNORED = '*\n!.gitignore\n!seeds/\n!seeds/**\n'

/** Keeps the data folder out of repositories. Does not overwrite an existing `.gitignore`. */
export function keepOutOfGit(dataFolder: string): void {
  try {
    writeFileSync(join(dataFolder, '.gitignore'), IGNORED, { flag: 'wx' })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
}

/**
 * The path of a temporary file for a day that is being fetched and landed: its page buffer, the
 * row buffer of a response (by the first day of its range), or rows as lines.
 */
export function bufferPath(
  { dataFolder, orgId }: { readonly dataFolder: string; readonly orgId: string },
  resource: string,
  day: Day,
  kind: 'pages' | 'rows' | 'lines',
): string {
  return join(partsFolder(dataFolder), `${pathSegment(orgId)}-${resource}-${day}.${kind}`)
}

/**
 * Removes the temporary files that an earlier run left for an organisation, except the page
 * buffers of wanted intervals. A file name is parsed from its end, because
 * the organisation may contain `-`.
 */
export async function removePageBuffersExcept(
  dataFolder: string,
  orgId: string,
  isWanted: (resource: string, day: Day) => boolean,
): Promise<void> {
  const folder = partsFolder(dataFolder)
  for (const { name } of await listIfThere(folder)) {
    const { org, resource, day, kind } = BUFFER_NAME.exec(name)?.groups ?? {}
    if (resource === undefined || day === undefined || !isDay(day)) continue
    if (org !== pathSegment(orgId) || (kind === 'pages' && isWanted(resource, day))) continue
    await removeFile(join(folder, name))
  }
}

/** No run continues pages that are this old. */
const USELESS_AFTER_MS = 48 * 3_600_000

/**
 * Removes the temporary files of organisations that no run has loaded for days, for example because
 * they are not configured any more. `now` in milliseconds since the epoch.
 */
export async function removeOldPageBuffers(dataFolder: string, now: number): Promise<void> {
  const folder = partsFolder(dataFolder)
  for (const { name } of await listIfThere(folder)) {
    if (!BUFFER_NAME.test(name)) continue
    const file = await orIfMissing(stat(join(folder, name)), undefined)
    if (file !== undefined && file.mtimeMs < now - USELESS_AFTER_MS)
      await removeFile(join(folder, name))
  }
}

const BUFFER_NAME = /^(?<org>.+)-(?<resource>\w+)-(?<day>\d{4}-\d\d-\d\d)\.(?<kind>pages|rows)$/

function partsFolder(dataFolder: string): string {
  return join(dataFolder, 'state', 'parts')
}

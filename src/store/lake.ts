import { join } from 'node:path'
import type { Day } from '../core/days.ts'
import { listIfThere, pathSegment } from './files.ts'

/** `<data>/lake/raw/<resource>/org=<org>/date=<day>`: every version of one day, as served. */
export function rawFolder(dataFolder: string, orgId: string, resource: string, day: Day): string {
  const org = `org=${pathSegment(orgId)}`
  return join(dataFolder, 'lake', 'raw', resource, org, `date=${day}`)
}

/** `<data>/lake/base/<entity>/org=<org>/month=<month>/data.parquet`. */
export function baseFile(dataFolder: string, orgId: string, entity: string, month: string): string {
  const folder = join(dataFolder, 'lake', 'base', entity, `org=${pathSegment(orgId)}`)
  return join(folder, `month=${month}`, 'data.parquet')
}

/**
 * The name of a version: when it was fetched, then the digest of its rows, so
 * that names sort by age and a version is recognised without being opened.
 */
export function versionName(fetchedAt: number, digest: string): string {
  const time = new Date(fetchedAt).toISOString().replaceAll(/[-:.]/g, '')
  return `${time}-${digest.slice(0, 16)}.parquet`
}

/** True when the version holds rows with this digest. */
export function isVersionOf(name: string, digest: string): boolean {
  return name.endsWith(`-${digest.slice(0, 16)}.parquet`)
}

/** When a version was fetched, milliseconds since the epoch; NaN for a name that is none. */
export function versionTime(name: string): number {
  const [, date, hour, minute, second, ms] = /^(\d{8})T(\d\d)(\d\d)(\d\d)(\d{3})Z-/.exec(name) ?? []
  if (date === undefined) return NaN
  const day = `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}`
  return Date.parse(`${day}T${hour}:${minute}:${second}.${ms}Z`)
}

/**
 * A day's versions up to the one that counts, oldest first. Of two that were
 * fetched in the same millisecond the later name stands, and a file that is
 * younger than the one that counts is not known of yet.
 */
export async function versionsUpTo(folder: string, current: string): Promise<string[]> {
  const earlier = (await versionsIn(folder)).filter(
    (name) => versionTime(name) < versionTime(current),
  )
  const latest = new Map(earlier.map((name) => [versionTime(name), name]))
  return [...latest.values(), current]
}

/** The versions in a day's folder, oldest first. */
export async function versionsIn(folder: string): Promise<string[]> {
  const entries = await listIfThere(folder)
  return entries
    .map((entry) => entry.name)
    .filter((name) => name.endsWith('.parquet'))
    .sort()
}

/** Every month of a base entity, of every organisation. */
export function baseGlob(dataFolder: string, entity: string): string {
  return join(dataFolder, 'lake', 'base', entity, 'org=*', 'month=*', 'data.parquet')
}

/** The published warehouse. */
export function warehousePath(dataFolder: string): string {
  return join(dataFolder, 'warehouse.duckdb')
}

/** Where the base of a warehouse as it was known before is, laid out as a data folder. */
export function pastFolder(dataFolder: string): string {
  return join(dataFolder, 'state', 'as-of')
}

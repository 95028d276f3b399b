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

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isDay, type Day } from '../core/days.ts'
import { listIfThere, pathSegment } from '../store/files.ts'
import { intervalKey } from '../store/ledger.ts'

/** Where the part of a day stands while the day is fetched. */
export function partPath(dataFolder: string, orgId: string, resource: string, day: Day): string {
  return join(folderOf(dataFolder), `${pathSegment(orgId)}-${resource}-${day}.ndjson`)
}

/**
 * Removes the parts of an organisation but those of the `wanted` intervals
 * (their keys). A name is read from its end: only the organisation's may hold any `-`.
 */
export async function removeParts(
  dataFolder: string,
  orgId: string,
  wanted: ReadonlySet<string>,
): Promise<void> {
  const folder = folderOf(dataFolder)
  for (const { name } of await listIfThere(folder)) {
    const { org, resource, day } = NAME.exec(name)?.groups ?? {}
    if (resource === undefined || day === undefined || !isDay(day)) continue
    if (org !== pathSegment(orgId) || wanted.has(intervalKey(resource, day))) continue
    await rm(join(folder, name), { force: true })
  }
}

const NAME = /^(?<org>.+)-(?<resource>\w+)-(?<day>\d{4}-\d\d-\d\d)\.ndjson$/

function folderOf(dataFolder: string): string {
  return join(dataFolder, 'state', 'parts')
}

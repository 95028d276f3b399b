import { join } from 'node:path'
import { isDay, type Day } from '../../lib/days.ts'
import { listIfThere, pathSegment, removeFile } from '../../lib/files.ts'
import { intervalKey } from '../../lake/ledger.ts'

/** Where the page buffer of a day is while the day is fetched. */
export function pageBufferPath(
  dataFolder: string,
  orgId: string,
  resource: string,
  day: Day,
): string {
  return join(folderOf(dataFolder), `${pathSegment(orgId)}-${resource}-${day}.pages`)
}

/** Where the rows of a day stand as lines while they are landed. */
export function linesPath(dataFolder: string, orgId: string, resource: string, day: Day): string {
  return join(folderOf(dataFolder), `${pathSegment(orgId)}-${resource}-${day}.ndjson`)
}

/** Where rows of an answer stand while it comes, by the first day of its range. */
export function rowBufferPath(
  dataFolder: string,
  orgId: string,
  resource: string,
  day: Day,
): string {
  return join(folderOf(dataFolder), `${pathSegment(orgId)}-${resource}-${day}.rows`)
}

/**
 * Removes what an earlier run left of an organisation's answers, and its page
 * buffers but those of the `wanted` intervals (their keys). A name is read from its end:
 * only the organisation's may hold any `-`.
 */
export async function removePageBuffers(
  dataFolder: string,
  orgId: string,
  wanted: ReadonlySet<string>,
): Promise<void> {
  const folder = folderOf(dataFolder)
  for (const { name } of await listIfThere(folder)) {
    const { org, resource, day, kind } = NAME.exec(name)?.groups ?? {}
    if (resource === undefined || day === undefined || !isDay(day)) continue
    const isWanted = kind === 'pages' && wanted.has(intervalKey(resource, day))
    if (org !== pathSegment(orgId) || isWanted) continue
    await removeFile(join(folder, name))
  }
}

const NAME = /^(?<org>.+)-(?<resource>\w+)-(?<day>\d{4}-\d\d-\d\d)\.(?<kind>pages|rows)$/

function folderOf(dataFolder: string): string {
  return join(dataFolder, 'state', 'parts')
}

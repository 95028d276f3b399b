import { join } from 'node:path'
import { isDay, type Day } from '../../lib/days.ts'
import { listIfThere, pathSegment, removeFile } from '../../lib/files.ts'
import { intervalKey } from '../../lake/ledger.ts'

/**
 * Where what was served of a day is while it is fetched and landed: its page buffer, the rows
 * of an answer by the first day of its range, or rows as lines.
 */
export function bufferPath(
  { dataFolder, orgId }: { readonly dataFolder: string; readonly orgId: string },
  resource: string,
  day: Day,
  kind: 'pages' | 'rows' | 'ndjson',
): string {
  return join(folderOf(dataFolder), `${pathSegment(orgId)}-${resource}-${day}.${kind}`)
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

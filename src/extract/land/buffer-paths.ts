import { join } from 'node:path'
import { isDay, type Day } from '../../lib/days.ts'
import { listIfThere, pathSegment, removeFile } from '../../lib/files.ts'
import { intervalKey } from '../../lake/ledger.ts'

/**
 * The path of a temporary file for a day that is being fetched and landed: its page buffer, the
 * row buffer of an answer (by the first day of its range), or rows as lines.
 */
export function bufferPath(
  { dataFolder, orgId }: { readonly dataFolder: string; readonly orgId: string },
  resource: string,
  day: Day,
  kind: 'pages' | 'rows' | 'lines',
): string {
  return join(folderOf(dataFolder), `${pathSegment(orgId)}-${resource}-${day}.${kind}`)
}

/**
 * Removes the temporary files that an earlier run left for an organisation, except the page
 * buffers of the `wanted` intervals (their keys). A file name is parsed from its end, because
 * the organisation may contain `-`.
 */
export async function removePageBuffersExcept(
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

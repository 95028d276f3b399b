import { join } from 'node:path'
import { z } from 'zod'
import { servedRow, sumOf, type ServedRow } from '../../client/index.ts'
import { quarantineFolder, versionPath } from '../../lake/layout.ts'
import { intervalKey } from '../../lake/ledger.ts'
import { rowsSql } from '../../lake/merged.ts'
import { versionsIn } from '../../lake/raw-days.ts'
import { stateFile } from '../../lake/state-file.ts'
import type { Day } from '../../lib/days.ts'
import { pathSegment, writeUnsynced } from '../../lib/files.ts'
import { fill, statement } from '../../lib/package.ts'
import type { PageHeader } from './page-buffer.ts'
import type { Lake, WritableLake } from './raw-writer.ts'
import { damageOfVersion } from './verify-versions.ts'

const whole = z.number().int().nonnegative()
const shape = z.object({
  /** Of the rows in the lake: for others, the checksums say nothing. */
  digest: z.string(),
  users: whole,
  pages: z.array(z.object({ rows: whole, characters: whole, sha256: z.string() })).readonly(),
})

/**
 * The checksums of the pages of a landed day of users. A page with the same checksum has the
 * same rows, which need not be parsed. This is only an optimisation: without it, every row is
 * parsed.
 */
export type PageSums = Readonly<z.infer<typeof shape>>

/**
 * The saved checksums of an organisation's days, `<data>/state/walks/<org>/<day>.json`. Files of
 * `/users`, the first such resource, have no subfolder. One that a power cut damaged is ignored.
 */
export function pageSumsOf({ orgId }: Pick<Lake, 'orgId'>, resource: string) {
  const folder = join('walks', pathSegment(orgId), resource === 'users' ? '' : resource)
  return stateFile<PageSums>(folder, shape, 0, writeUnsynced)
}

/**
 * The checksums of the pages of the ledger's version; null unless its file is verified. Null also
 * after a newer version went to quarantine: the same rows are then written as a new version, for
 * which all of them are needed.
 */
export async function landedPages(
  lake: WritableLake,
  resource: string,
  day: Day,
): Promise<PageSums | null> {
  const { dataFolder, orgId, ledger, warn } = lake
  const { file, digest, sha256 } = ledger.get(intervalKey(resource, day)) ?? {}
  if (file == null || digest == null || sha256 == null) return null
  const inQuarantine = versionsIn(quarantineFolder(dataFolder, orgId, resource, day))
  if ((inQuarantine.at(-1) ?? '') > file) return null
  const sums = await pageSumsOf(lake, resource).read(dataFolder, day, warn)
  if (sums?.digest !== digest) return null
  const damage = await damageOfVersion(dataFolder, orgId, { resource, day, file }, sha256)
  return damage === undefined ? sums : null
}

/**
 * The rows of a page, read from the lake; null if the version does not contain them, or if they
 * were served with other white space between them than a blank after each comma.
 */
export async function pageInLake(
  { dataFolder, orgId, database }: Lake,
  resource: string,
  day: Day,
  file: string,
  { origin, sum }: PageHeader,
): Promise<ServedRow[] | null> {
  // The file was verified when its pagination was opened: this database reads no damaged file.
  const path = versionPath(dataFolder, orgId, { resource, day, file })
  const sql = fill(statement('raw/page'), { rows: rowsSql([path]), page: String(origin.page) })
  const rows = await database.use((connection) => connection.rows(sql).catch(() => []))
  const items = rows.flatMap(({ item }) => (typeof item === 'string' ? [item] : []))
  // the sum is of the array as served, whose white space is not in the lake
  const isSame = [',', ', '].some(
    (comma) => sumOf(`[${items.join(comma)}]`, items.length).sha256 === sum.sha256,
  )
  return isSame ? items.map(servedRow) : null
}

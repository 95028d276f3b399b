import { renameSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { servedRow, sumOf, type ServedRow } from '../../client/index.ts'
import { quarantineFolder, versionPath } from '../../lake/layout.ts'
import { intervalKey } from '../../lake/ledger.ts'
import { rowsSql } from '../../lake/merged.ts'
import { versionsIn } from '../../lake/raw-days.ts'
import type { Day } from '../../lib/days.ts'
import { confirmLease, pathSegment, readJson, withTemporary } from '../../lib/files.ts'
import { fill, statement } from '../../lib/package.ts'
import type { PageHeader } from './page-buffer.ts'
import type { Lake, WritableLake } from './raw-writer.ts'
import { damageOfVersion } from './verify-versions.ts'

type Of = Pick<Lake, 'dataFolder' | 'orgId'>

const whole = z.number().int().nonnegative()
const shape = z.object({
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

/** The saved checksums of a day whose rows in the lake have this digest; null if there are none. */
export async function readPageSums(
  lake: Of,
  resource: string,
  day: Day,
  digest: string,
  warn: (message: string) => void,
): Promise<PageSums | null> {
  const found = shape.safeParse(await readJson(pathOf(lake, resource, day), warn)).data
  return found?.digest === digest ? found : null
}

/** Saves the checksums without syncing: a file damaged by a power cut is invalid and ignored. */
export async function writePageSums(
  lake: Of,
  resource: string,
  day: Day,
  sums: PageSums,
): Promise<void> {
  const path = pathOf(lake, resource, day)
  await withTemporary(path, async (temporary) => {
    await writeFile(temporary, `${JSON.stringify(sums)}\n`)
    confirmLease(path)
    renameSync(temporary, path)
  })
}

/** Files of `/users`, the first such resource, have no subfolder. */
function pathOf({ dataFolder, orgId }: Of, resource: string, day: Day): string {
  const folder = join(dataFolder, 'state', 'walks', pathSegment(orgId))
  return join(folder, resource === 'users' ? '' : resource, `${day}.json`)
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
  const sums = await readPageSums(lake, resource, day, digest, warn)
  if (sums === null) return null
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

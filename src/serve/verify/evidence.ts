import { z } from 'zod'
import type { Day } from '../../lib/days.ts'
import { orIfMissing } from '../../lib/files.ts'
import { Database, listLiteral } from '../../lib/duckdb.ts'
import { statement, fill } from '../../lib/package.ts'
import { baseGlob, versionPath } from '../../lake/layout.ts'
import { dayShape, LedgerFile } from '../../lake/ledger.ts'
import { sha256OfVersion } from '../../lake/merged.ts'
import type { ScopedInterval } from './compare.ts'

/** A raw file that differs from the ledger. */
export interface DamagedFile extends Omit<ScopedInterval, 'isLanded'> {
  readonly path: string
  /** SHA-256 in the ledger, hex. */
  readonly expected: string | null
  /** SHA-256 of the file; null if there is none. */
  readonly found: string | null
}

/**
 * Compares the current raw files of the days with the ledger's SHA-256, until the signal aborts.
 *
 * @returns how many files were compared, and those that differ.
 */
export async function verifyFiles(
  dataFolder: string,
  orgIds: readonly string[],
  days: readonly Day[],
  signal: AbortSignal,
) {
  const sampled = new Set(days)
  const damaged: DamagedFile[] = []
  let files = 0
  for (const orgId of orgIds) {
    for (const interval of (await LedgerFile.read(dataFolder, orgId)).values()) {
      const { resource, day, file, sha256: expected } = interval
      if (file === null || !sampled.has(day)) continue
      signal.throwIfAborted()
      const path = versionPath(dataFolder, orgId, { resource, day, file })
      const found = await orIfMissing(sha256OfVersion(path), null)
      files += 1
      if (found !== expected) damaged.push({ orgId, resource, day, path, expected, found })
    }
  }
  return { files, damaged }
}

const notStoredRow = z.object({
  orgId: z.string(),
  resource: z.string(),
  path: z.string(),
  /**
   * `unreadable`: NULL in the warehouse; `overflow`: its sum is NULL; `rounded`: to six
   * decimals.
   */
  kind: z.enum(['unreadable', 'overflow', 'rounded']),
  day: dayShape,
})

/** A served number that the warehouse cannot store. */
export type NotStored = Readonly<z.output<typeof notStoredRow>>

/**
 * The served numbers of these days that base stores differently. The comparison of facts
 * cannot find them, because both sides are read by the same statements.
 */
export async function notStored(dataFolder: string, days: readonly Day[]): Promise<NotStored[]> {
  await using database = await Database.open(':memory:')
  const drift = listLiteral([baseGlob(dataFolder, 'schema_drift')])
  const { rows } = await database.table(fill(statement('verify/not_stored'), { drift }))
  return rows.flatMap(([orgId, resource, path, kind, day]) => {
    const { data } = notStoredRow.safeParse({ orgId, resource, path, kind, day })
    return data !== undefined && days.includes(data.day) ? [data] : []
  })
}

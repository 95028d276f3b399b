import { join } from 'node:path'
import { type Day, isDay } from '../../lib/days.ts'
import { orIfMissing, sha256OfFile } from '../../lib/files.ts'
import { rawFolder, baseGlob } from '../../lake/layout.ts'
import { LedgerFile, type Interval } from '../../lake/ledger.ts'
import { Database, listLiteral } from '../../lib/duckdb.ts'
import { statement, fill } from '../../lib/package.ts'

/** A raw file that is not what the ledger says it is. */
export interface DamagedFile {
  readonly orgId: string
  readonly resource: string
  readonly day: Day
  readonly path: string
  /** SHA-256 as the ledger has it, hex. */
  readonly expected: string | null
  /** SHA-256 of what is there; null when there is no file. */
  readonly found: string | null
}

export interface FilesProof {
  /** Files looked at. */
  readonly files: number
  readonly damaged: readonly DamagedFile[]
}

/** Holds the current raw files of the days against the ledger's SHA-256. */
export async function proveFiles(
  dataFolder: string,
  orgIds: readonly string[],
  days: readonly Day[],
): Promise<FilesProof> {
  const sampled = new Set(days)
  const damaged: DamagedFile[] = []
  let files = 0
  for (const orgId of orgIds) {
    const ledger = await LedgerFile.read(dataFolder, orgId)
    for (const interval of ledger.values()) {
      if (interval.file === null || !sampled.has(interval.day)) continue
      const path = join(rawPath(dataFolder, orgId, interval), interval.file)
      const found = await orIfMissing(sha256OfFile(path), null)
      const { resource, day, sha256: expected } = interval
      files += 1
      if (found !== expected) damaged.push({ orgId, resource, day, path, expected, found })
    }
  }
  return { files, damaged }
}

function rawPath(dataFolder: string, orgId: string, { resource, day }: Interval): string {
  return rawFolder(dataFolder, orgId, resource, day)
}

/** A number of a day's rows that the warehouse cannot hold as it was served. */
export interface NotHeld {
  readonly orgId: string
  readonly resource: string
  readonly day: Day
  readonly path: string
  /**
   * `unreadable`: NULL in the warehouse; `overflow`: its sum is; `rounded`: read to the
   * sixth digit.
   */
  readonly kind: 'unreadable' | 'overflow' | 'rounded'
}

const NOT_HELD = statement('verify/not_held')

/**
 * What was served on these days and differs from what base reads of it. Facts that
 * are compared are read by the same statements on both sides, so they cannot tell.
 */
export async function notHeld(dataFolder: string, days: readonly Day[]): Promise<NotHeld[]> {
  const database = await Database.open(':memory:')
  try {
    const drift = listLiteral([baseGlob(dataFolder, 'schema_drift')])
    const { rows } = await database.table(fill(NOT_HELD, { drift }))
    return rows.flatMap(([orgId, resource, path, kind, day]) =>
      typeof orgId === 'string' &&
      typeof resource === 'string' &&
      typeof path === 'string' &&
      (kind === 'unreadable' || kind === 'overflow' || kind === 'rounded') &&
      typeof day === 'string' &&
      isDay(day) &&
      days.includes(day)
        ? [{ orgId, resource, day, path, kind }]
        : [],
    )
  } finally {
    database.close()
  }
}

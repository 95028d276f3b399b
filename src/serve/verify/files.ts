import { join } from 'node:path'
import type { Day } from '../../lib/days.ts'
import { orIfMissing, sha256OfFile } from '../../lib/files.ts'
import { rawFolder } from '../../lake/layout.ts'
import { LedgerFile, type Interval } from '../../lake/ledger.ts'

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

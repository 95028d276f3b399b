import { mapLimit } from '../lib/concurrency.ts'
import { isEntityResource, isSnapshot } from '../lake/resources.ts'
import type { Warn } from '../lib/world.ts'
import type { RawFile } from '../lake/layout.ts'
import { quarantine, type DamagedFile } from '../lake/quarantine.ts'
import { intervalKey, LedgerFile, type Ledger } from '../lake/ledger.ts'
import { damageOfVersion, verifyVersions } from './land/verify-versions.ts'

/**
 * Verifies files of the lake before they are read, and moves damaged ones to quarantine. A day
 * whose current version was damaged becomes missing, and due.
 *
 * @param opened the ledger, where it is open.
 */
export async function quarantineDamaged(
  dataFolder: string,
  orgId: string,
  files: readonly RawFile[],
  known: Ledger,
  warn: Warn,
  opened?: LedgerFile,
): Promise<readonly DamagedFile[]> {
  const damaged = await damagedFiles(dataFolder, orgId, files, known)
  if (damaged.length === 0) return damaged
  const isCurrent = (raw: RawFile): boolean => known.get(keyOf(raw))?.file === raw.file
  for (const each of damaged) {
    const found = await quarantine(dataFolder, orgId, each)
    warn(`${found}; ${isCurrent(each) ? consequenceOf(each) : 'it was not the newest of its day'}`)
  }
  const ledger = opened ?? (await LedgerFile.open(dataFolder, orgId, warn))
  await ledger.forget(damaged.filter(isCurrent))
  return damaged
}

function consequenceOf({ resource }: RawFile): string {
  if (!isEntityResource(resource)) return 'the day is missing again'
  const isGone = isSnapshot(resource) || resource === 'hook_events'
  return isGone ? 'it is no longer served' : 'its content is requested again'
}

/**
 * Verifies every file of entity resources that later nights build on, before it is read, and
 * moves damaged ones to quarantine. What a day held is requested again, except for a snapshot.
 */
export async function quarantineDamagedEntities(
  dataFolder: string,
  orgId: string,
  ledger: LedgerFile,
  warn: Warn,
): Promise<void> {
  const files = [...ledger.intervals.values()].flatMap(({ resource, day, file }) =>
    isEntityResource(resource) && file !== null ? [{ resource, day, file }] : [],
  )
  await quarantineDamaged(dataFolder, orgId, files, ledger.intervals, warn, ledger)
}

/**
 * Returns the damaged files: verifies current versions by their bytes, and the others by the
 * digest of their rows.
 */
export async function damagedFiles(
  dataFolder: string,
  orgId: string,
  files: readonly RawFile[],
  ledger: Ledger,
): Promise<DamagedFile[]> {
  const recordedSum = (raw: RawFile): string | null => {
    const known = ledger.get(keyOf(raw))
    return known?.file === raw.file ? known.sha256 : null
  }
  const damages = await mapLimit(files, FILES_AT_ONCE, async (raw) => {
    const sum = recordedSum(raw)
    return sum === null ? undefined : damageOfVersion(dataFolder, orgId, raw, sum)
  })
  const others = files.filter((raw) => recordedSum(raw) === null)
  const { damaged } = await verifyVersions(dataFolder, orgId, others)
  return [...damages.filter((damage) => damage !== undefined), ...damaged]
}

const FILES_AT_ONCE = 8

function keyOf({ resource, day }: RawFile): string {
  return intervalKey(resource, day)
}

import type { Warn } from '../lib/world.ts'
import { someOf } from '../lib/text.ts'
import { quarantineFolder, rawDays, versionsIn, type RawDay } from '../lake/layout.ts'
import { intervalKey, LedgerFile, readJournal, type Interval, type Ledger } from '../lake/ledger.ts'
import { intervalsWithoutFile, quarantine } from '../lake/quarantine.ts'
import { knownFile, mayHoldNewer, readDays, type Reading, type Said } from './rebuild.ts'

/** A ledger, and what it names that is not in the lake. */
export interface OpenLedger {
  readonly ledger: LedgerFile
  readonly missing: readonly Interval[]
}

/**
 * Opens an organisation's ledger, for the holder of the lock, and holds it against
 * the lake, whose index it is. Versions that it lacks, because lines of it were
 * missing or a run was killed before it wrote them, are proven and taken in again.
 */
export async function openLedger(
  dataFolder: string,
  orgId: string,
  warn: Warn,
): Promise<OpenLedger> {
  const ledger = await LedgerFile.open(dataFolder, orgId, warn)
  const { unknownFiles, gone, damaged, inLake } = await compare(dataFolder, orgId, ledger)
  for (const each of damaged) warn(await quarantine(dataFolder, orgId, each))
  if (gone.length > 0) await ledger.forget(gone)
  if (unknownFiles.length > 0) {
    await ledger.record(unknownFiles)
    warn(
      `the ledger of ${orgId} did not know what the lake holds of ${listedDays(unknownFiles)}; it was taken in`,
    )
  }
  return { ledger, missing: intervalsWithoutFile(ledger.intervals.values(), inLake) }
}

/**
 * What an organisation's ledger will say when the next run has opened it: days whose
 * file is gone are missing, and what the lake holds is known. Changes nothing and
 * needs no lock. Damage to a file that the ledger knows is found only when the file
 * is read.
 */
export async function ledgerOnceOpened(dataFolder: string, orgId: string): Promise<Ledger> {
  const said = await readJournal(dataFolder, orgId)
  const { unknownFiles, gone, inLake } = await compare(dataFolder, orgId, said)
  const ledger = new Map(said.intervals)
  const forget = ({ resource, day }: Interval) => ledger.delete(intervalKey(resource, day))
  gone.forEach(forget)
  for (const each of unknownFiles) ledger.set(intervalKey(each.resource, each.day), each)
  intervalsWithoutFile(ledger.values(), inLake).forEach(forget)
  return ledger
}

/** How the lake differs from what the ledger says of it. */
interface Differences extends Reading {
  readonly inLake: readonly RawDay[]
  /** What was found and the ledger does not know. */
  readonly unknownFiles: readonly Interval[]
}

async function compare(dataFolder: string, orgId: string, said: Said): Promise<Differences> {
  const inLake = await rawDays(dataFolder, orgId)
  const days = unrecordedDays(dataFolder, orgId, inLake, said)
  const reading = await readDays(dataFolder, orgId, days, said)
  const unknownFiles = reading.found.filter(({ resource, day, file }) => {
    return said.intervals.get(intervalKey(resource, day))?.file !== file
  })
  return { ...reading, inLake, unknownFiles }
}

/**
 * Days of which the lake holds a newer version than the ledger knows, or one where
 * it knows none. A day whose newest version was missing is none of them: it is
 * missing until it is landed again.
 */
export function unrecordedDays(
  dataFolder: string,
  orgId: string,
  inLake: readonly RawDay[],
  said: Said,
): readonly RawDay[] {
  const newer = inLake.filter((each) => {
    const newest = each.versions.at(-1)
    if (newest === undefined) return false
    const key = intervalKey(each.resource, each.day)
    const interval = said.intervals.get(key)
    if (interval?.file == null) return newest >= (knownFile(key, said) ?? '')
    return newest > interval.file && mayHoldNewer(each, interval)
  })
  return newer.filter(({ resource, day, versions }) => {
    if (knownFile(intervalKey(resource, day), said) !== undefined) return true
    const failed = versionsIn(quarantineFolder(dataFolder, orgId, resource, day))
    return (versions.at(-1) ?? '') >= (failed.at(-1) ?? '')
  })
}

/** `users 2026-01-15, users 2026-01-16 and 3 more`. */
export function listedDays(days: readonly Pick<RawDay, 'resource' | 'day'>[]): string {
  return someOf(days.map(({ resource, day }) => `${resource} ${day}`))
}

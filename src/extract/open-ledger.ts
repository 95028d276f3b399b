import { grouped } from '../lib/grouped.ts'
import { join, relative } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { HISTORY_START, type Day } from '../lib/days.ts'
import type { Warn } from '../lib/world.ts'
import { sha256AsLanded } from '../lake/merged.ts'
import { someOf } from '../lib/text.ts'
import { quarantineFolder, versionPath, bufferPath } from '../lake/layout.ts'
import { knownDays, rawDays, versionsIn, type RawDay } from '../lake/raw-days.ts'
import {
  intervalKey,
  LedgerFile,
  readJournal,
  type Interval,
  type JournalState,
  type Ledger,
} from '../lake/ledger.ts'
import {
  intervalsWithoutFile,
  intervalsWithoutHistory,
  quarantine,
  type DamagedFile,
  moveAside,
} from '../lake/quarantine.ts'
import { witnessIn } from './land/page-buffer.ts'
import {
  damageOfVersion,
  verifyVersions,
  type VerifiedVersion,
  type VerifiedVersions,
} from './land/verify-versions.ts'
import { finishMerges } from '../lake/merge-files.ts'
import { isAnalytics } from '../lake/resources.ts'

export interface OpenLedger {
  readonly ledger: LedgerFile
  /** The intervals that it forgot because their files are not in the lake. */
  readonly missing: readonly Interval[]
  /** How many versions that it lacked were damaged. */
  readonly damaged: number
  /** How many days have fewer earlier versions than the last run knew. */
  readonly lost: number
}

/**
 * Opens an organisation's ledger and compares it with the lake, whose index it is. The caller
 * holds the lock. Versions that the ledger lacks, because lines of it were missing or a run was
 * killed before it wrote them, are verified and added. Intervals whose file is gone are forgotten,
 * so that their days are missing and requested again: the ledger never claims a file that does not
 * exist (law 3).
 */
export async function openLedger(
  dataFolder: string,
  orgId: string,
  warn: Warn,
): Promise<OpenLedger> {
  await tidyMergedFiles(dataFolder, orgId, warn)
  const ledger = await LedgerFile.open(dataFolder, orgId, warn)
  const { unknownFiles, gone, damaged, inLake } = await compare(ledger)
  const lost = await reportLostHistory(ledger, inLake)
  for (const each of damaged) warn(await quarantine(dataFolder, orgId, each))
  if (gone.length > 0) await ledger.forget(gone)
  if (unknownFiles.length > 0) {
    await ledger.record(unknownFiles)
    warn(
      `the ledger of ${orgId} lacked versions that are in the lake (${listedDays(unknownFiles)}); they were added`,
    )
  }
  const missing = intervalsWithoutFile(ledger.intervals.values(), inLake)
  if (missing.length > 0) {
    await ledger.forget(missing)
    warn(
      `files of ${orgId} are in the ledger but not in the lake: ${listedDays(missing)}; these days are missing again`,
    )
  }
  return { ledger, missing, damaged: countVersions(damaged), lost }
}

/**
 * Warns once of earlier versions that are gone; the current ones are still there. Returns of how
 * many days.
 */
async function reportLostHistory(ledger: LedgerFile, inLake: readonly RawDay[]): Promise<number> {
  const { orgId } = ledger
  const lost = intervalsWithoutHistory(ledger, inLake)
  if (lost.length === 0) return 0
  ledger.warn(
    `earlier versions of ${orgId} are no longer in ${join('lake', 'raw')}: ${listedDays(lost)}; without a backup of them, build --as-of lacks these days at the time of those versions`,
  )
  await ledger.record(lost)
  return lost.length
}

/**
 * Returns an organisation's ledger as the next run will see it: days whose file is gone are
 * missing, and versions in the lake are known. Changes nothing and needs no lock. Damage to a
 * file that the ledger knows is found only when the file is read.
 */
export async function ledgerOnceOpened(dataFolder: string, orgId: string): Promise<Ledger> {
  const journal = await readJournal(dataFolder, orgId)
  const { unknownFiles, gone, inLake } = await compare(journal)
  const ledger = new Map(journal.intervals)
  const forget = ({ resource, day }: Interval) => ledger.delete(intervalKey(resource, day))
  gone.forEach(forget)
  for (const each of unknownFiles) ledger.set(intervalKey(each.resource, each.day), each)
  intervalsWithoutFile(ledger.values(), inLake).forEach(forget)
  return ledger
}

/** The differences between the lake and the ledger. */
async function compare(journal: JournalState) {
  const inLake = await rawDays(journal.dataFolder, journal.orgId)
  const reading = await readDays(unrecordedDays(inLake, journal), journal)
  /** Versions in the lake that the ledger does not know. */
  const unknownFiles = reading.found.filter(({ resource, day, file }) => {
    return journal.intervals.get(intervalKey(resource, day))?.file !== file
  })
  return { ...reading, inLake, unknownFiles }
}

/**
 * Days of which the lake holds a version that is newer than the ledger's, or one where the
 * ledger has none. A day whose newest version went missing is not included: it stays missing
 * until it lands again.
 */
export function unrecordedDays(
  inLake: readonly RawDay[],
  journal: JournalState,
): readonly RawDay[] {
  const newer = inLake.filter((each) => {
    const newest = each.versions.at(-1)
    if (newest === undefined) return false
    const key = intervalKey(each.resource, each.day)
    const interval = journal.intervals.get(key)
    if (interval?.file == null) return newest >= (knownFile(key, journal) ?? '')
    return newest > interval.file && mayHoldNewer(each, interval)
  })
  return newer.filter(({ resource, day, versions }) => {
    if (knownFile(intervalKey(resource, day), journal) !== undefined) return true
    const { dataFolder, orgId } = journal
    const failed = versionsIn(quarantineFolder(dataFolder, orgId, resource, day))
    return (versions.at(-1) ?? '') >= (failed.at(-1) ?? '')
  })
}

/** `users 2026-01-15, users 2026-01-16 and 3 more`. */
export function listedDays(days: readonly Pick<RawDay, 'resource' | 'day'>[]): string {
  return someOf(days.map(({ resource, day }) => `${resource} ${day}`))
}

/**
 * Rebuilds an organisation's ledger from the lake. What the lake does not record (later
 * rechecks, failures, missing files) is kept from the existing ledger, as far as it agrees
 * with the lake.
 *
 * @returns how many versions were damaged or gone.
 */
export async function rebuildLedger(
  dataFolder: string,
  orgId: string,
  warn: Warn,
): Promise<number> {
  await tidyMergedFiles(dataFolder, orgId, warn)
  const ledger = await LedgerFile.open(dataFolder, orgId, warn)
  const days = await knownDays(ledger)
  const lost = await reportLostHistory(ledger, days)
  const { found, gone, damaged } = await readDays(days, ledger)
  for (const each of damaged) warn(await quarantine(dataFolder, orgId, each))
  await ledger.forget(gone)
  await ledger.record(
    found.filter((each) => {
      return !isDeepStrictEqual(each, ledger.intervals.get(intervalKey(each.resource, each.day)))
    }),
  )
  return lost + countVersions(damaged)
}

function countVersions(damaged: readonly DamagedFile[]): number {
  return damaged.filter(({ isStray }) => isStray !== true).length
}

/** The newest version known to the ledger, even if its file was missing. */
function knownFile(key: string, { intervals, forgotten }: JournalState): string | undefined {
  return intervals.get(key)?.file ?? forgotten.get(key)?.file
}

/**
 * Whether the lake may hold a version that landed after the one in the ledger. Names cannot
 * tell: a version that landed while a clock was set back has an earlier name. The ledger
 * records how many versions there were when it recorded its own.
 */
function mayHoldNewer({ versions }: RawDay, { file, versions: known }: Interval): boolean {
  if (file === null || !versions.includes(file)) return true
  return versions.length > known
}

/**
 * Reads days from the lake: every version is opened and verified; those that fail belong in
 * quarantine. The newest verified version counts: the ledger's, if none landed after it. If a
 * newer version was lost, the day is left out, whatever older ones there are. A version was lost
 * if the ledger knew it and it is not verified or, for a day unknown to the ledger, if it failed
 * verification now or before. Files that are not versions of the day are ignored.
 */
async function readDays(days: readonly RawDay[], journal: JournalState) {
  const { dataFolder, orgId } = journal
  const { verified, damaged } = await verifyDays(days, journal)
  const verifiedOf = grouped(verified, ({ resource, day }) => intervalKey(resource, day))
  const found: Interval[] = []
  /** Intervals that no version in the lake supports. */
  const gone: Interval[] = []
  for (const each of days) {
    const { resource, day } = each
    const key = intervalKey(resource, day)
    const known = journal.intervals.get(key)
    const versions = (verifiedOf.get(key) ?? []).sort((a, b) => (a.file < b.file ? -1 : 1))
    const failed = failedVersions(journal, each, damaged)
    const isNamed = known !== undefined && !mayHoldNewer(each, known)
    const named = isNamed ? versions.find(({ file }) => file === known.file) : undefined
    const newest = named ?? versions.at(-1)
    const least = knownFile(key, journal) ?? failed.at(-1) ?? ''
    if (newest === undefined || newest.file < least) {
      if (known?.file != null) gone.push(known)
      continue
    }
    const sha256 = await sha256AsLanded(versionPath(dataFolder, orgId, newest))
    const witness = await witnessIn(bufferPath({ dataFolder, orgId }, resource, day, 'pages'))
    found.push(intervalOf(newest, { sha256, versions: versions.length, witness }, known))
  }
  return { found, gone, damaged }
}

/** Versions of the day that failed verification, now or before; oldest first. */
function failedVersions(
  { dataFolder, orgId }: JournalState,
  { resource, day }: RawDay,
  damaged: readonly DamagedFile[],
): string[] {
  const before = versionsIn(quarantineFolder(dataFolder, orgId, resource, day))
  const now = damaged
    .filter((each) => each.resource === resource && each.day === day)
    .filter(({ isGone, isStray }) => !isGone && isStray !== true)
  return [...before, ...now.map(({ file }) => file)].sort()
}

/**
 * Verifies every version of days, and those that the ledger names: bytes against the ledger where
 * known, then rows against the file's own digest.
 */
export async function verifyDays(
  days: readonly RawDay[],
  { dataFolder, orgId, intervals }: JournalState,
): Promise<VerifiedVersions> {
  const damaged: DamagedFile[] = []
  const files = []
  for (const { resource, day, versions } of days) {
    const { file: claimed = null, sha256 = null } = intervals.get(intervalKey(resource, day)) ?? {}
    const ours = claimed !== null && !versions.includes(claimed) ? [...versions, claimed] : versions
    for (const file of ours) {
      const raw = { resource, day, file }
      const isClaimed = file === claimed && sha256 !== null
      const damage = isClaimed ? await damageOfVersion(dataFolder, orgId, raw, sha256) : undefined
      if (damage === undefined) files.push(raw)
      else damaged.push(damage)
    }
  }
  const opened = await verifyVersions(dataFolder, orgId, files)
  return { verified: opened.verified, damaged: [...damaged, ...opened.damaged] }
}

/** The interval in the ledger if it has this version. */
function intervalOf(
  version: VerifiedVersion,
  found: Pick<Interval, 'sha256' | 'versions' | 'witness'>,
  known: Interval | undefined,
): Interval {
  const { rows, ...seen } = version
  const { versions } = found
  if (known?.file === seen.file && known.digest === seen.digest) return { ...known, versions }
  const status = rows === 0 ? 'empty' : 'landed'
  return { ...seen, ...found, status, attempts: versions, error: null }
}

/**
 * Completes what a killed `compact` left, before the lake is compared with the ledger. The rows of
 * merged files whose manifest was lost are verified. The caller holds the lock.
 */
async function tidyMergedFiles(dataFolder: string, orgId: string, warn: Warn): Promise<void> {
  const { restored, unreadable } = await finishMerges(dataFolder, orgId)
  for (const path of unreadable) {
    const name = relative(join(dataFolder, 'lake', 'raw'), path)
    const to = relative(dataFolder, await moveAside(path, join(dataFolder, 'quarantine', name)))
    warn(`${name} of ${orgId} does not list the versions in it; it was moved to ${to}`)
  }
  if (restored.length === 0) return
  const { damaged } = await verifyVersions(dataFolder, orgId, restored)
  for (const each of damaged) warn(await quarantine(dataFolder, orgId, each))
}

/**
 * Forgets failed days that are not over yet at the platform or lie before its history: a run with a
 * wrong clock recorded them, and they would count as gaps.
 */
export async function forgetImpossible(ledger: LedgerFile, today: Day): Promise<void> {
  const isImpossible = ({ resource, day }: Interval): boolean =>
    day < HISTORY_START || day > today || (day === today && isAnalytics(resource))
  const found = [...ledger.intervals.values()].filter(
    (interval) => interval.file === null && isImpossible(interval),
  )
  if (found.length === 0) return
  await ledger.forget(found)
  ledger.warn(
    `a run with a wrong clock recorded days of ${ledger.orgId} as failed that are not over yet or lie before the history: ${listedDays(found)}; these records are forgotten`,
  )
}

import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Warn } from '../lib/world.ts'
import { someOf } from '../lib/text.ts'
import { quarantineFolder, rawDays, versionsIn, type RawDay, rawFolder } from '../lake/layout.ts'
import { intervalKey, LedgerFile, readJournal, type Interval, type Ledger } from '../lake/ledger.ts'
import { intervalsWithoutFile, quarantine, damageOf, type DamagedFile } from '../lake/quarantine.ts'
import { sha256OfFile } from '../lib/files.ts'
import {
  verifyVersions,
  type VerifiedVersion,
  type VerifiedVersions,
} from './land/verify-versions.ts'

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

/** What a ledger says. */
type Said = Pick<LedgerFile, 'intervals' | 'forgotten'>

/**
 * Makes an organisation's ledger again from the lake. What the lake does not say
 * (later rechecks, failures, missing files) is kept from the ledger that is there,
 * as far as the two agree.
 *
 * @returns how many versions were damaged or gone.
 */
export async function rebuildLedger(
  dataFolder: string,
  orgId: string,
  warn: Warn,
): Promise<number> {
  const ledger = await LedgerFile.open(dataFolder, orgId, warn)
  const { intervals, forgotten } = ledger
  const days = new Map<string, RawDay>()
  for (const { resource, day, file } of [...intervals.values(), ...forgotten.values()])
    if (file !== null) days.set(intervalKey(resource, day), { resource, day, versions: [] })
  for (const day of await rawDays(dataFolder, orgId))
    days.set(intervalKey(day.resource, day.day), day)
  const { found, gone, damaged } = await readDays(dataFolder, orgId, [...days.values()], ledger)
  for (const each of damaged) warn(await quarantine(dataFolder, orgId, each))
  await ledger.forget(gone)
  await ledger.record(
    found.filter((each) => {
      return !isDeepStrictEqual(each, intervals.get(intervalKey(each.resource, each.day)))
    }),
  )
  return damaged.filter(({ isStray }) => isStray !== true).length
}

/** The newest version that the ledger knew of, whether it is there or was missing. */
function knownFile(key: string, { intervals, forgotten }: Said): string | undefined {
  return intervals.get(key)?.file ?? forgotten.get(key)?.file
}

/**
 * Whether the lake may hold a version of the day that landed after the one that the
 * ledger names. Its name does not say: while a clock was set back, newer content got
 * an earlier one. The ledger knows how many versions there were when it named its own.
 */
function mayHoldNewer({ versions }: RawDay, { file, versions: known }: Interval): boolean {
  if (file === null || !versions.includes(file)) return true
  return versions.length > known
}

/** What the lake says of days, and how it differs from what the ledger says of them. */
interface Reading {
  readonly found: readonly Interval[]
  /** What no version in the lake bears out. */
  readonly gone: readonly Interval[]
  readonly damaged: readonly DamagedFile[]
}

/**
 * What the lake says of days: every version is opened and verified; what fails belongs
 * in quarantine. The newest that is verified counts, which is the ledger's where none
 * landed after it, unless a newer one was missing:
 * then the day is left out, whatever older ones there are. Lost is the version
 * that the ledger knew, or, of a day that it says nothing of, any that failed its
 * proof, now or before. What is no version of the day is none of these.
 */
async function readDays(
  dataFolder: string,
  orgId: string,
  days: readonly RawDay[],
  said: Said,
): Promise<Reading> {
  const { verified, damaged } = await verifyAll(dataFolder, orgId, days, said)
  const verifiedOf = new Map<string, VerifiedVersion[]>()
  for (const version of verified) {
    const key = intervalKey(version.resource, version.day)
    verifiedOf.set(key, [...(verifiedOf.get(key) ?? []), version])
  }
  const found: Interval[] = []
  const gone: Interval[] = []
  for (const each of days) {
    const { resource, day } = each
    const key = intervalKey(resource, day)
    const known = said.intervals.get(key)
    const versions = (verifiedOf.get(key) ?? []).sort((a, b) => (a.file < b.file ? -1 : 1))
    const failed = failedVersions(dataFolder, orgId, each, damaged)
    const isNamed = known !== undefined && !mayHoldNewer(each, known)
    const named = isNamed ? versions.find(({ file }) => file === known.file) : undefined
    const newest = named ?? versions.at(-1)
    const least = knownFile(key, said) ?? failed.at(-1) ?? ''
    if (newest === undefined || newest.file < least) {
      if (known?.file != null) gone.push(known)
      continue
    }
    const path = join(rawFolder(dataFolder, orgId, resource, day), newest.file)
    found.push(intervalOf(newest, await sha256OfFile(path), versions.length, known))
  }
  return { found, gone, damaged }
}

/** Versions of the day that failed their proof, now or before; oldest first. */
function failedVersions(
  dataFolder: string,
  orgId: string,
  { resource, day }: RawDay,
  damaged: readonly DamagedFile[],
): string[] {
  const before = versionsIn(quarantineFolder(dataFolder, orgId, resource, day))
  const now = damaged
    .filter((each) => each.resource === resource && each.day === day)
    .filter(({ isGone, isStray }) => !isGone && isStray !== true)
  return [...before, ...now.map(({ file }) => file)].sort()
}

/** Bytes against the ledger, where it knows them; then rows against what the file says. */
async function verifyAll(
  dataFolder: string,
  orgId: string,
  days: readonly RawDay[],
  { intervals }: Said,
): Promise<VerifiedVersions> {
  const damaged: DamagedFile[] = []
  const files = []
  for (const { resource, day, versions } of days) {
    const { file: claimed = null, sha256 = null } = intervals.get(intervalKey(resource, day)) ?? {}
    const ours = claimed !== null && !versions.includes(claimed) ? [...versions, claimed] : versions
    for (const file of ours) {
      const raw = { resource, day, file }
      const isClaimed = file === claimed && sha256 !== null
      const damage = isClaimed ? await damageOf(dataFolder, orgId, raw, sha256) : undefined
      if (damage === undefined) files.push(raw)
      else damaged.push(damage)
    }
  }
  const opened = await verifyVersions(dataFolder, orgId, files)
  return { verified: opened.verified, damaged: [...damaged, ...opened.damaged] }
}

function intervalOf(
  version: VerifiedVersion,
  sha256: string,
  versions: number,
  known: Interval | undefined,
): Interval {
  const { rows, ...seen } = version
  if (known?.file === seen.file && known.digest === seen.digest) return { ...known, versions }
  const status = rows === 0 ? 'empty' : 'landed'
  return { ...seen, status, versions, attempts: versions, sha256, error: null }
}

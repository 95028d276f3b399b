import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { sha256OfFile } from '../lib/files.ts'
import { quarantineFolder, rawDays, rawFolder, versionsIn, type RawDay } from '../lake/layout.ts'
import { intervalKey, LedgerFile, type Interval } from '../lake/ledger.ts'
import type { Warn } from '../lib/world.ts'
import { damageOf, quarantine, type DamagedFile } from '../lake/quarantine.ts'
import {
  verifyVersions,
  type VerifiedVersion,
  type VerifiedVersions,
} from './land/verify-versions.ts'

/** What a ledger says. */
export type Said = Pick<LedgerFile, 'intervals' | 'forgotten'>

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
export function knownFile(key: string, { intervals, forgotten }: Said): string | undefined {
  return intervals.get(key)?.file ?? forgotten.get(key)?.file
}

/**
 * Whether the lake may hold a version of the day that landed after the one that the
 * ledger names. Its name does not say: while a clock was set back, newer content got
 * an earlier one. The ledger knows how many versions there were when it named its own.
 */
export function mayHoldNewer({ versions }: RawDay, { file, versions: known }: Interval): boolean {
  if (file === null || !versions.includes(file)) return true
  return versions.length > known
}

/** What the lake says of days, and how it differs from what the ledger says of them. */
export interface Reading {
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
export async function readDays(
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

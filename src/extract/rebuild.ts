import { join } from 'node:path'
import type { Day } from '../core/days.ts'
import { sha256OfFile } from '../store/files.ts'
import { quarantineFolder, rawDays, rawFolder, versionsIn } from '../store/lake.ts'
import { intervalKey, LedgerFile, type Interval, type Ledger } from '../store/ledger.ts'
import { damageOf, quarantine, type DamagedFile } from '../store/quarantine.ts'
import { proveVersions, type ProvenVersion, type ProvenVersions } from './versions.ts'

/**
 * Makes an organisation's ledger anew from the lake. Every version of every day
 * is opened and proven; what fails goes into quarantine. A day whose newest
 * version is lost is missing, whatever older ones there are. What the lake
 * cannot tell (later looks, failures) is kept from the ledger that is there, as
 * far as the two agree.
 *
 * @returns how many files were damaged or gone.
 */
export async function rebuildLedger(
  dataFolder: string,
  orgId: string,
  warn: (message: string) => void,
): Promise<number> {
  const known = await LedgerFile.read(dataFolder, orgId)
  const days = await daysOf(dataFolder, orgId, known)
  const { proven, damaged } = await proveAll(dataFolder, orgId, days, known)
  for (const each of damaged) warn(await quarantine(dataFolder, orgId, each))
  const byFile = new Map(proven.map((version) => [fileKey(version, version.file), version]))
  const intervals = new Map([...known].filter(([, { file }]) => file === null))
  for (const day of days) {
    const version = byFile.get(fileKey(day, day.newest))
    if (version === undefined) continue
    const sha256 = await sha256OfFile(pathOf(dataFolder, orgId, version))
    const key = intervalKey(day.resource, day.day)
    const versions = day.versions.filter((file) => byFile.has(fileKey(day, file))).length
    intervals.set(key, intervalOf(version, sha256, versions, known.get(key)))
  }
  await LedgerFile.replace(dataFolder, orgId, [...intervals.values()])
  return damaged.length
}

/** What is known of one day's files. */
interface RawDay {
  readonly resource: string
  readonly day: Day
  /** In the lake, oldest first. */
  readonly versions: readonly string[]
  /** In the lake, in quarantine, or in the ledger alone. */
  readonly newest: string
}

async function daysOf(dataFolder: string, orgId: string, known: Ledger): Promise<RawDay[]> {
  const claimed = [...known.values()].filter(({ file }) => file !== null)
  const all = new Map(
    [...claimed, ...(await rawDays(dataFolder, orgId))].map(({ resource, day }) => [
      intervalKey(resource, day),
      { resource, day },
    ]),
  )
  const days: RawDay[] = []
  for (const [key, { resource, day }] of all) {
    const versions = await versionsIn(rawFolder(dataFolder, orgId, resource, day))
    const quarantined = await versionsIn(quarantineFolder(dataFolder, orgId, resource, day))
    const names = [...versions, ...quarantined, known.get(key)?.file ?? ''].sort()
    days.push({ resource, day, versions, newest: names.at(-1) ?? '' })
  }
  return days
}

/** Bytes against the ledger, where it knows them; then rows against what the file says. */
async function proveAll(
  dataFolder: string,
  orgId: string,
  days: readonly RawDay[],
  known: Ledger,
): Promise<ProvenVersions> {
  const damaged: DamagedFile[] = []
  const files = []
  for (const { resource, day, versions } of days) {
    const { file: claimed = null, sha256 = null } = known.get(intervalKey(resource, day)) ?? {}
    const ours = claimed !== null && !versions.includes(claimed) ? [...versions, claimed] : versions
    for (const file of ours) {
      const raw = { resource, day, file }
      const isClaimed = file === claimed && sha256 !== null
      const damage = isClaimed ? await damageOf(dataFolder, orgId, raw, sha256) : undefined
      if (damage === undefined) files.push(raw)
      else damaged.push(damage)
    }
  }
  const opened = await proveVersions(dataFolder, orgId, files)
  return { proven: opened.proven, damaged: [...damaged, ...opened.damaged] }
}

function intervalOf(
  version: ProvenVersion,
  sha256: string,
  versions: number,
  known: Interval | undefined,
): Interval {
  const { resource, day, file, digest, fetchedAt, requestId, rowCount } = version
  if (known?.file === file && known.digest === digest) return { ...known, versions }
  return {
    resource,
    day,
    status: version.rows === 0 ? 'empty' : 'landed',
    fetchedAt,
    rowCount,
    versions,
    attempts: versions,
    requestId,
    file,
    sha256,
    digest,
    error: null,
  }
}

function pathOf(dataFolder: string, orgId: string, version: ProvenVersion): string {
  const { resource, day, file } = version
  return join(rawFolder(dataFolder, orgId, resource, day), file)
}

function fileKey({ resource, day }: Pick<RawDay, 'resource' | 'day'>, file: string): string {
  return `${intervalKey(resource, day)}/${file}`
}

import { constants } from 'node:fs'
import { access, stat, lstat } from 'node:fs/promises'
import { FOLDERS } from '../config/config.ts'
import { ExitCode, messageOf } from '../lib/errors.ts'
import { size, someOf, counted, digits } from '../lib/text.ts'
import { z } from 'zod'
import { verifyEarlier } from '../serve/rollback.ts'
import { openWarehouse, rowsOf } from '../serve/warehouse.ts'
import type { Database } from '../lib/duckdb.ts'
import { mapLimit } from '../lib/concurrency.ts'
import { probeFolder, writableAncestor } from '../lib/disk.ts'
import { freeRoom, type Room } from '../lib/machine.ts'
import { orIfMissing, listIfReadable } from '../lib/files.ts'
import { warehousePath, organisationsInLake } from '../lake/layout.ts'
import { describeOwner, leaseStatus } from '../lib/lock.ts'
import { verifyPublished, readRecords, recordPath, keptFiles } from '../lake/published.ts'
import { hasRedactionKey } from '../lib/secrets/redaction.ts'
import { ok, warning, wrong, type Finding } from './finding.ts'
import { join, relative } from 'node:path'
import { snapshotDamage, snapshotFolders, snapshotVersions } from '../lake/snapshot-versions.ts'
import { ledgerOnceOpened, listedDays, unrecordedDays, verifyDays } from '../extract/open-ledger.ts'
import { rawDays, type RawDay } from '../lake/raw-days.ts'
import { intervalRows, knownRange } from '../lake/intervals.ts'
import {
  damagedLines,
  knownOrganisations,
  readJournal,
  type JournalState,
  type Ledger,
} from '../lake/ledger.ts'
import { lastPlannedDay, readOrganisations } from '../lake/organisations.ts'
import { intervalsWithoutFile, quarantined } from '../lake/quarantine.ts'

const MB = 1024 * 1024

/** Space for raw files, besides the next warehouse, which is written next to the published one. */
const ROOM_FOR_RAW = 256 * MB

/** A file and a folder for each resource and day of a year. */
const INODES = 5_000

/** People keep the seeds, and runs only read them. */
const OWN_FOLDERS = FOLDERS.filter((name) => name !== 'seeds')

/** Whether the folder and those in it are writable, and it has room for the next build. */
export async function checkDisk(dataFolder: string): Promise<Finding[]> {
  const hint = 'Name another folder with --data or AGENT_WAREHOUSE_DATA, or fix its permissions.'
  try {
    const existing = await writableAncestor(dataFolder)
    const disk = await room(existing, warehousePath(dataFolder))
    if (existing !== dataFolder)
      return [ok('data folder', `${dataFolder} does not exist yet: the first run creates it`), disk]
    await probeFolder(dataFolder)
    for (const folder of OWN_FOLDERS) {
      const path = join(dataFolder, folder)
      await orIfMissing(access(path, constants.W_OK | constants.X_OK), undefined)
    }
    return [ok('data folder', `files in ${dataFolder} can be written, synced and renamed`), disk]
  } catch (error) {
    const message = `${dataFolder} cannot be written: ${messageOf(error)}`
    return [wrong('data folder', ExitCode.usage, message, hint)]
  }
}

async function room(folder: string, warehouse: string): Promise<Finding> {
  const published = await orIfMissing(stat(warehouse), undefined)
  return roomFinding(freeRoom(folder), ROOM_FOR_RAW + 2 * (published?.size ?? 0))
}

/** Whether a disk has room for `needed` bytes, and for the files of a first run. */
export function roomFinding(free: Room | null, needed: number): Finding {
  if (free === null) return ok('disk', 'the free space is unknown')
  const { bytes, inodes } = free
  if (bytes < needed) {
    const hint = `Free some space: the next build may need another ${size(needed)}.`
    return warning('disk', `${size(bytes)} free`, hint)
  }
  if (inodes !== null && inodes < INODES) {
    const hint = `Remove files, or use another file system: a first run makes about ${digits(INODES)} files and folders.`
    return warning('disk', `${size(bytes)} free, but only ${digits(inodes)} inodes (df -i)`, hint)
  }
  return ok('disk', `${size(bytes)} free`)
}

export async function checkLock(dataFolder: string, now: number): Promise<Finding[]> {
  const lease = await leaseStatus(dataFolder, now)
  if (lease === undefined) return [ok('lock', 'no run is in progress')]
  const owner = describeOwner(lease, now)
  const beat = `last heartbeat ${lease.heartbeatAt}`
  if (lease.state === 'alive') return [ok('lock', `${owner} is in progress, ${beat}`)]
  const message = `${owner} ${lease.state === 'dead' ? 'was killed' : `is silent, ${beat}`}`
  return [warning('lock', message, 'Nothing needs to be done: the next run takes over.')]
}

/** Whether the redaction key is valid; no finding before there is one. */
export async function checkKey(dataFolder: string): Promise<Finding[]> {
  if (!(await hasRedactionKey(dataFolder))) return []
  return [ok('redaction', 'the redaction key is in the data folder')]
}

/** Whether readers can open the published file, and whether it is the one that a run published. */
export async function checkWarehouse(dataFolder: string): Promise<Finding[]> {
  const path = warehousePath(dataFolder)
  const verdict = await verifyPublished(path)
  if (verdict.state === 'absent') {
    const last = (await readRecords(path)).at(-1)
    if (last !== undefined) {
      const message = `${path} is gone; run ${last.runId} published it`
      const hint = 'agent-warehouse build writes it again.'
      return [wrong('warehouse', ExitCode.partial, message, hint)]
    }
    return [warning('warehouse', 'nothing is published yet', 'To publish: agent-warehouse run.')]
  }
  if (verdict.state === 'changed') {
    const message = `${path} is not the file that was published: ${verdict.reason}`
    const hint = 'agent-warehouse build replaces it, and builds everything again from base.'
    return [wrong('warehouse', ExitCode.partial, message, hint)]
  }
  try {
    await using database = await openWarehouse(path)
    const [row] = await database.rows('select count(*) as runs from meta.runs')
    const opens = `${path} can be opened; it has the records of ${counted(Number(row?.['runs'] ?? 0), 'run')}`
    return [ok('warehouse', opens), ...(await checkTeams(database))]
  } catch (error) {
    const hint = 'Build it again: agent-warehouse build.'
    return [wrong('warehouse', ExitCode.partial, messageOf(error), hint)]
  }
}

const LISTED_USERS = 10
const userRow = z.object({ user_id: z.string() })

/** Users without a team, if there are teams. They are named by id, because an address is personal. */
async function checkTeams(database: Database): Promise<Finding[]> {
  const users = await rowsOf(database, 'seeds/users_without_team', userRow)
  if (users.length === 0) return []
  const ids = users.map(({ user_id }) => user_id)
  const what = users.length === 1 ? 'user has' : 'users have'
  const message = `${users.length} ${what} no team: ${someOf(ids, LISTED_USERS)}`
  const query = 'select user_label from dim_user where team is null'
  return [warning('teams', message, `Add them to seeds/teams.csv. To list them: query "${query}"`)]
}

const LISTED = 3

/** These hold no secrets. */
const OPEN_TO_ALL: ReadonlySet<string> = new Set(['.gitignore', 'seeds'])

/**
 * Whether files and folders grant more than the mask allows. Those that an earlier
 * version made, or that were copied here, may.
 */
export async function checkPermissions(dataFolder: string, umask: number): Promise<Finding[]> {
  if (process.platform === 'win32') return []
  const exposed: string[] = []
  await addExposed(exposed, dataFolder, dataFolder, umask)
  if (exposed.length === 0)
    return [ok('permissions', `only ${usersOf(umask)} can read the data folder`)]
  return [
    warning(
      'permissions',
      `users other than ${usersOf(umask)} can access ${someOf(exposed, LISTED)}`,
      `To fix this: chmod -R ${closing(umask)} '${dataFolder.replaceAll("'", `'\\''`)}'. To let a group read the files, set AGENT_WAREHOUSE_UMASK=027, or umask: 027 in the configuration.`,
    ),
  ]
}

/** Adds what is exposed at and below a path. Ignores files that disappear meanwhile, because a run may be in progress. */
async function addExposed(
  exposed: string[],
  dataFolder: string,
  path: string,
  umask: number,
): Promise<void> {
  const status = await orIfMissing(lstat(path), undefined)
  const name = relative(dataFolder, path)
  if (status === undefined || status.isSymbolicLink() || OPEN_TO_ALL.has(name)) return
  const mode = status.mode & 0o777
  if ((mode & umask) !== 0) {
    exposed.push(`${name || dataFolder} (${mode.toString(8).padStart(3, '0')})`)
  }
  for (const entry of status.isDirectory() ? await listIfReadable(path) : []) {
    await addExposed(exposed, dataFolder, join(path, entry.name), umask)
  }
}

function usersOf(umask: number): string {
  return (umask & 0o070) === 0o070 ? 'its owner' : 'its owner and group'
}

/** The mask as chmod's words: `g-rwx,o-rwx`. */
function closing(umask: number): string {
  const letters = (bits: number): string =>
    ['r', 'w', 'x'].filter((_, at) => (bits & (4 >> at)) !== 0).join('')
  const masked = [`g-${letters(umask >> 3)}`, `o-${letters(umask)}`]
  return masked.filter((clause) => clause.length > 2).join(',')
}

/** Whether a rollback could publish the earlier files. */
export async function checkEarlier(dataFolder: string): Promise<Finding[]> {
  const target = warehousePath(dataFolder)
  const files = await keptFiles(target)
  if (files.length > 0 && (await readRecords(target)).length === 0) {
    const message = `the record of published files is missing, so the ${files.length} earlier files cannot be verified for a rollback`
    return [warning('rollback', message, `Restore ${recordPath(target)} from a backup.`)]
  }
  const verdicts = await mapLimit(files, 1, (file) => verifyEarlier(target, file))
  return verdicts.flatMap((verdict) =>
    typeof verdict === 'string'
      ? [warning('rollback', verdict, 'A rollback cannot publish it again: delete it.')]
      : [],
  )
}

export async function checkSnapshots(dataFolder: string): Promise<Finding[]> {
  const findings: Finding[] = []
  let versions = 0
  for (const name of await snapshotFolders(dataFolder)) {
    for (const version of await snapshotVersions(dataFolder, name)) {
      versions += 1
      const damage = await snapshotDamage(version)
      if (damage === undefined) continue
      const hint =
        'Restore it from a backup, or let the next build continue from the published file or the version before.'
      const message = `${version.path}: ${damage}`
      findings.push(wrong('snapshots', ExitCode.partial, message, hint))
    }
  }
  if (findings.length > 0 || versions === 0) return findings
  const all = versions === 1 ? 'the only version is' : `all ${versions} versions are`
  return [ok('snapshots', `${all} unchanged`)]
}

/**
 * Compares the ledger of every organisation with the lake.
 *
 * @param isThorough also reads every file, and verifies its bytes and its rows.
 */
export async function checkLake(dataFolder: string, isThorough: boolean): Promise<Finding[]> {
  const findings: Finding[] = []
  const withLedger = await knownOrganisations(dataFolder)
  for (const orgId of withLedger) {
    const journal = await readJournal(dataFolder, orgId)
    const { intervals, damaged, path } = journal
    const inLake = await rawDays(dataFolder, orgId)
    if (damaged.length > 0) findings.push(warning('ledger', damagedLines(path, damaged)))
    const unrecorded = unrecordedDays(inLake, journal)
    if (unrecorded.length > 0) {
      const message = `${orgId}: the lake has ${counted(unrecorded.length, 'day')}, or newer versions of days, that the ledger does not list: ${listedDays(unrecorded)}`
      findings.push(warning('ledger', message, ADDED_BY_NEXT_RUN))
    }
    findings.push(checkFiles(orgId, intervals, inLake))
    if (isThorough) findings.push(await checkContents(journal, inLake))
    findings.push(await checkDays(dataFolder, orgId))
  }
  for (const orgId of await organisationsInLake(dataFolder)) {
    if (withLedger.includes(orgId)) continue
    const message = `the lake has days of ${orgId}, but no ledger lists them`
    findings.push(wrong('ledger', ExitCode.partial, message, ADDED_BY_NEXT_RUN))
  }
  const files = await quarantined(dataFolder)
  if (files > 0) {
    const hint = 'They are not used. Inspect them, then delete the folder.'
    findings.push(warning('quarantine', `${files} damaged files are in quarantine`, hint))
  }
  return findings
}

const ADDED_BY_NEXT_RUN = 'The next run, or agent-warehouse build, adds them to the ledger.'

function checkFiles(orgId: string, ledger: Ledger, inLake: readonly RawDay[]): Finding {
  const missing = intervalsWithoutFile(ledger.values(), inLake)
  const files = [...ledger.values()].filter(({ file }) => file !== null).length
  const all = `${orgId}: all ${files} files that the ledger lists exist; --all also reads them`
  if (missing.length === 0) return ok('files', all)
  const message = `${orgId}: ${missing.length} of ${files} files that the ledger lists are missing: ${listedDays(missing)}`
  const hint = 'Restore them, or let the next run request them again.'
  return wrong('files', ExitCode.partial, message, hint)
}

async function checkContents(journal: JournalState, inLake: readonly RawDay[]): Promise<Finding> {
  const { orgId } = journal
  const files = inLake.reduce((sum, { versions }) => sum + versions.length, 0)
  const verification = await verifyDays(inLake, journal)
  const damaged = verification.damaged.filter(({ isGone }) => !isGone)
  const [first] = damaged
  if (first === undefined) return ok('contents', `${orgId}: all ${files} files are unchanged`)
  const message = `${orgId}: ${damaged.length} of ${files} files are damaged: ${listedDays(damaged)} (${first.reason})`
  const hint =
    'agent-warehouse rebuild moves them to quarantine, and the next run requests their days again.'
  return wrong('contents', ExitCode.partial, message, hint)
}

async function checkDays(dataFolder: string, orgId: string): Promise<Finding> {
  const ledger = await ledgerOnceOpened(dataFolder, orgId)
  const planned = lastPlannedDay(await readOrganisations(dataFolder), orgId)
  const rows = intervalRows(orgId, ledger, knownRange(ledger, planned))
  const gaps = rows.filter(({ status }) => status === 'failed' || status === 'missing')
  if (gaps.length === 0)
    return ok('days', `${orgId}: all ${rows.length} intervals have landed or are empty`)
  const message = `${orgId}: ${gaps.length} of ${rows.length} intervals are missing or failed: ${listedDays(gaps)}`
  const hint = 'agent-warehouse status lists them; the next run requests them again.'
  return warning('days', message, hint)
}

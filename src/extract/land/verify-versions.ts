import { basename } from 'node:path'
import { z } from 'zod'
import { mapLimit } from '../../lib/concurrency.ts'
import { AppError, messageOf } from '../../lib/errors.ts'
import type { Warn } from '../../lib/world.ts'
import { isTooDeep, MAX_DEPTH } from '../../lib/json.ts'
import { diskFault } from '../../lib/disk.ts'
import { ownSpillFolder } from '../../lib/spill.ts'
import { Database } from '../../lib/duckdb.ts'
import { isVersionOf, versionName, versionPath, type RawFile } from '../../lake/layout.ts'
import { mergedPlace, rowsSql, metadataSql } from '../../lake/merged.ts'
import { inChunks } from '../../lib/grouped.ts'
import { processLimits } from '../../lib/machine.ts'
import { intervalKey, LedgerFile, type Ledger } from '../../lake/ledger.ts'
import { quarantine, readThrough, type DamagedFile } from '../../lake/quarantine.ts'
import { readRows } from '../../lake/raw-days.ts'
import { statement, fill } from '../../lib/package.ts'
import { isEntityResource, isOfUsers, isSnapshot } from '../../lake/resources.ts'
import { digestOf } from './row-lines.ts'

/** A version that was opened, and whose rows match the digest that it landed with. */
export interface VerifiedVersion extends RawFile {
  /** By the platform's clock, milliseconds since the epoch. */
  readonly fetchedAt: number
  readonly requestId: string | null
  /** Digest of the rows, independent of their order. */
  readonly digest: string
  readonly rows: number
  /** Rows, or users where a user can be served twice. */
  readonly rowCount: number
}

export interface VerifiedVersions {
  readonly verified: readonly VerifiedVersion[]
  readonly damaged: readonly DamagedFile[]
}

/** Files opened per statement: a compromise between speed and memory. */
const FILES_AT_ONCE = 64

/**
 * Opens versions in the lake, regardless of the ledger, and verifies that each one is what its
 * folder and name say, and that its rows have the digest that they landed with.
 */
export async function verifyVersions(
  dataFolder: string,
  orgId: string,
  files: readonly RawFile[],
): Promise<VerifiedVersions> {
  const verified: VerifiedVersion[] = []
  const damaged: DamagedFile[] = []
  const pathOf = (raw: RawFile): string => versionPath(dataFolder, orgId, raw)
  for (const resource of new Set(files.map((raw) => raw.resource))) {
    const own = files.filter((raw) => raw.resource === resource)
    for (const batch of inChunks(own, FILES_AT_ONCE)) {
      const found = await openAll(dataFolder, resource, batch.map(pathOf))
      for (const raw of batch) {
        const version = await verify(orgId, raw, pathOf(raw), found.get(dayAndFile(pathOf(raw))))
        if ('file' in version) verified.push(version)
        else damaged.push({ ...raw, ...version, isGone: false })
      }
    }
  }
  return { verified, damaged }
}

/**
 * Verifies a version by its bytes or, if its SHA-256 is not known, by its rows. If the bytes of a
 * merged file have changed, the rows of the version decide, because the damage may be in other
 * versions.
 *
 * @throws AppError if the system does not allow reading the file.
 */
export async function damageOfVersion(
  dataFolder: string,
  orgId: string,
  raw: RawFile,
  sha256: string | null,
): Promise<DamagedFile | undefined> {
  if (sha256 !== null) {
    const path = versionPath(dataFolder, orgId, raw)
    const found = await readThrough(path)
    if (found.sha256 === sha256) return undefined
    const { reason = 'its SHA-256 is not the one that was recorded', isGone = false } = found
    if (mergedPlace(path) === undefined) return { ...raw, reason, isGone }
  }
  return (await verifyVersions(dataFolder, orgId, [raw])).damaged[0]
}

const openedFile = z.object({
  path: z.string(),
  org_id: z.string().nullable(),
  resource: z.string().nullable(),
  activity_date: z.string().nullable(),
  fetched_at: z.string().nullable(),
  request_id: z.string().nullable(),
  digest: z.string().nullable(),
  row_count: z.number(),
  entity_count: z.number(),
  /** Whether a row has so many brackets that it may be nested too deep. */
  may_be_deep: z.boolean(),
  lanes: z.array(z.coerce.number()),
})

type OpenedFile = z.infer<typeof openedFile>

/** What is wrong with a file; see DamagedFile. */
type Fault = Pick<DamagedFile, 'reason' | 'isStray'>

/** Day and file: a path may come back from DuckDB with other separators. */
function dayAndFile(path: string): string {
  return path.split(/[/\\]/).slice(-2).join('/')
}

/** The contents of the files, by key, or why a file cannot be opened. */
async function openAll(
  dataFolder: string,
  resource: string,
  paths: readonly string[],
): Promise<Map<string, OpenedFile | Fault>> {
  try {
    const opened = await openTogether(dataFolder, resource, paths)
    return new Map(opened.map((each) => [dayAndFile(each.path), each]))
  } catch (error) {
    const [only] = paths
    if (only === undefined) return new Map()
    if (paths.length === 1) return new Map([[dayAndFile(only), await faultOf(error, only)]])
    const middle = paths.length >> 1 // the error does not name the file: bisect
    const halves = [paths.slice(0, middle), paths.slice(middle)]
    const found = []
    for (const half of halves) found.push(...(await openAll(dataFolder, resource, half)))
    return new Map(found)
  }
}

/** Rows of users are counted by user, or by their text if they name none. */
const USER_OR_ROW = `coalesce(nullif(try(item ->> '$.user_id'), ''), item)`

/** Uses a separate database: reading a damaged file may leave a database unusable. */
async function openTogether(
  dataFolder: string,
  resource: string,
  paths: readonly string[],
): Promise<OpenedFile[]> {
  const tempDirectory = ownSpillFolder(dataFolder)
  const options = { ...processLimits().verification, tempDirectory }
  await using database = await Database.open(':memory:', options)
  await database.run(statement('raw/versions_macros'))
  const sql = fill(statement('raw/versions'), {
    rows: rowsSql(paths),
    metadata: metadataSql(paths),
    entity: isOfUsers(resource) ? USER_OR_ROW : 'null',
    max_depth: String(MAX_DEPTH),
  })
  return z.array(openedFile).parse(await database.rows(sql))
}

/** Faults of the machine or its settings, not of the file. */
const MACHINE_ERRORS = /^(Out of Memory|INTERRUPT)|No files found|Too many open files/

/** DuckDB's error for a file without the column `item`. */
const NO_ITEMS = /^Binder Error: Referenced column "item" not found/

/** What DuckDB's errors quote of a row, which is not shown (law 11). */
const QUOTED_ROW = /(?:: value|\s+Input:) ".*/s

/** @throws AppError if the cause is the machine, not the file. */
async function faultOf(error: unknown, path: string): Promise<Fault> {
  const { reason } = await readThrough(path)
  if (reason !== undefined) return { reason }
  if (NO_ITEMS.test(messageOf(error)))
    return { reason: 'it is not a version of a day', isStray: true }
  if (MACHINE_ERRORS.test(messageOf(error)) || diskFault(error) !== undefined) {
    throw new AppError(`${path} cannot be verified: ${messageOf(error)}`, { cause: error })
  }
  const [line = ''] = messageOf(error).replace(QUOTED_ROW, '').split('\n')
  const read = mergedPlace(path)?.merged.path ?? path
  return { reason: `it cannot be opened: ${line.replaceAll(read, basename(read))}` }
}

/**
 * Returns the version, or its fault. A file is stray if it says that it is another version and
 * has that version's name, or if it says nothing and its rows do not match its name. Any other
 * file with a fault was a version of the day, and is damaged.
 */
async function verify(
  orgId: string,
  raw: RawFile,
  path: string,
  found: OpenedFile | Fault | undefined,
): Promise<VerifiedVersion | Fault> {
  if (found === undefined) return { reason: 'it does not say what it holds', isStray: true }
  if ('reason' in found) return found
  const { org_id, resource, activity_date, digest, row_count: rows } = found
  const isOfRows = isVersionOf(raw.file, digestOf(rows, found.lanes))
  const fetchedAt = Date.parse(found.fetched_at ?? '')
  if (digest === null || Number.isNaN(fetchedAt)) {
    const metadata = [org_id, resource, activity_date, digest, found.fetched_at]
    const isStray = !isOfRows && metadata.every((each) => each === null)
    return { reason: 'it does not say what it holds', isStray }
  }
  const isInPlace = org_id === orgId && resource === raw.resource && activity_date === raw.day
  const hasItsName = versionName(fetchedAt, digest) === raw.file
  if (!isInPlace || !hasItsName) {
    const what = `${resource ?? '?'} ${activity_date ?? '?'} of ${org_id ?? '?'}`
    return { reason: `it is another file: ${what}`, isStray: hasItsName }
  }
  if (digestOf(rows, found.lanes) !== digest)
    return { reason: 'its rows are not the ones that landed' }
  if (found.may_be_deep && (await readRows(path))?.some(({ item }) => isTooDeep(item)) === true) {
    return { reason: `a row is nested deeper than ${MAX_DEPTH} levels` }
  }
  return {
    ...raw,
    fetchedAt,
    requestId: found.request_id === '' ? null : found.request_id,
    digest,
    rows,
    rowCount: isOfUsers(resource) ? found.entity_count : rows,
  }
}

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
  const isCurrent = (raw: RawFile): boolean =>
    known.get(intervalKey(raw.resource, raw.day))?.file === raw.file
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
export async function quarantineDamagedEntities(ledger: LedgerFile): Promise<void> {
  const { dataFolder, orgId, intervals, warn } = ledger
  const files = [...intervals.values()].flatMap(({ resource, day, file }) =>
    isEntityResource(resource) && file !== null ? [{ resource, day, file }] : [],
  )
  await quarantineDamaged(dataFolder, orgId, files, intervals, warn, ledger)
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
    const known = ledger.get(intervalKey(raw.resource, raw.day))
    return known?.file === raw.file ? known.sha256 : null
  }
  const damages = await mapLimit(files, READ_AT_ONCE, async (raw) => {
    const sum = recordedSum(raw)
    return sum === null ? undefined : damageOfVersion(dataFolder, orgId, raw, sum)
  })
  const others = files.filter((raw) => recordedSum(raw) === null)
  const { damaged } = await verifyVersions(dataFolder, orgId, others)
  return [...damages.filter((damage) => damage !== undefined), ...damaged]
}

const READ_AT_ONCE = 8

import { basename, join } from 'node:path'
import { Database, listLiteral } from '../lib/duckdb.ts'
import { rawFolder, versionTime, versionsUpTo } from './layout.ts'
import { intervalKey, LedgerFile, type Interval, type Ledger } from './ledger.ts'
import { processLimits } from '../lib/machine.ts'
import { statement, fill } from '../lib/package.ts'

/**
 * The ledger as it was known at the moment `at` (milliseconds since the epoch, the
 * platform's clock): each day with the version that counted then, days that
 * landed later left out. What the lake does not record of that time is not in it:
 * failures, and further rechecks that found nothing new.
 */
export async function ledgerAsOf(dataFolder: string, orgId: string, at: number): Promise<Ledger> {
  const known: Known[] = []
  for (const interval of (await LedgerFile.read(dataFolder, orgId)).values()) {
    const { resource, day, file } = interval
    if (file === null) continue
    const folder = rawFolder(dataFolder, orgId, resource, day)
    const files = (await versionsUpTo(folder, file)).filter((name) => versionTime(name) <= at)
    const last = files.at(-1)
    if (last === undefined) continue
    known.push({ interval, path: join(folder, last), versions: files.length })
  }
  const isPast = ({ interval, path }: Known): boolean =>
    basename(path) !== interval.file || (interval.fetchedAt ?? 0) > at
  const facts = await factsOf(known.filter(isPast).map(({ path }) => path))
  return new Map(
    known.map((each) => {
      const { resource, day } = each.interval
      const then = isPast(each) ? intervalThen(each, facts) : each.interval
      return [intervalKey(resource, day), { ...then, versions: each.versions, error: null }]
    }),
  )
}

/** When anything landed for the first time, milliseconds since the epoch; undefined: never. */
export async function firstLanding(
  dataFolder: string,
  orgIds: readonly string[],
): Promise<number | undefined> {
  let first: number | undefined
  for (const orgId of orgIds) {
    for (const { resource, day, file } of (await LedgerFile.read(dataFolder, orgId)).values()) {
      if (file === null) continue
      const [oldest = file] = await versionsUpTo(rawFolder(dataFolder, orgId, resource, day), file)
      first = Math.min(first ?? Infinity, versionTime(oldest))
    }
  }
  return first
}

/** A day, and the version of it that counted. */
interface Known {
  readonly interval: Interval
  readonly path: string
  readonly versions: number
}

interface Facts {
  readonly rows: number
  readonly users: number
  readonly requestId: string | null
}

function intervalThen({ interval, path }: Known, facts: ReadonlyMap<string, Facts>): Interval {
  const file = basename(path)
  const isCurrent = file === interval.file
  const { rows, users, requestId } = facts.get(path) ?? { rows: 0, users: 0, requestId: null }
  return {
    ...interval,
    file,
    status: rows === 0 ? 'empty' : 'landed',
    fetchedAt: versionTime(file),
    rowCount: interval.resource === 'users' ? users : rows,
    requestId,
    sha256: isCurrent ? interval.sha256 : null,
    digest: isCurrent ? interval.digest : null,
  }
}

async function factsOf(paths: readonly string[]): Promise<ReadonlyMap<string, Facts>> {
  if (paths.length === 0) return new Map()
  const database = await Database.open(':memory:', processLimits().verification)
  try {
    const files = listLiteral(paths)
    const counts = await database.rows(fill(statement('lake/version_rows'), { files }))
    const requests = await database.rows(fill(statement('lake/version_requests'), { files }))
    const countOf = new Map(counts.map((row) => [row['file'], row]))
    const requestOf = new Map(requests.map((row) => [row['file'], row['request_id']]))
    return new Map(
      paths.map((path) => {
        const count = countOf.get(path)
        const request = requestOf.get(path)
        const requestId = typeof request === 'string' ? request : null
        const [rows, users] = [Number(count?.['row_count'] ?? 0), Number(count?.['users'] ?? 0)]
        return [path, { rows, users, requestId }]
      }),
    )
  } finally {
    database.close()
  }
}

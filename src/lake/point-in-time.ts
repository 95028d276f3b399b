import { basename, join } from 'node:path'
import { z } from 'zod'
import { Database } from '../lib/duckdb.ts'
import { rawFolder, versionTime } from './layout.ts'
import { versionsUpTo } from './raw-days.ts'
import { intervalKey, LedgerFile, type Interval, type Ledger } from './ledger.ts'
import { rowsSql, saidSql } from './merged.ts'
import { isOfUsers } from './resources.ts'
import { processLimits } from '../lib/machine.ts'
import { statement, fill } from '../lib/package.ts'

/**
 * The ledger as of `at` (milliseconds since the epoch, by the platform's clock): each day with
 * the version that was current then; days that landed later are left out. It lacks what the
 * lake does not record: failures, and later rechecks that found nothing new.
 */
export async function ledgerAsOf(dataFolder: string, orgId: string, at: number): Promise<Ledger> {
  const known: Known[] = []
  for (const interval of (await LedgerFile.read(dataFolder, orgId)).values()) {
    const { resource, day, file, fetchedAt } = interval
    if (file === null) continue
    const folder = rawFolder(dataFolder, orgId, resource, day)
    const files = versionsUpTo(folder, file).filter((name) => versionTime(name) <= at)
    const last = files.at(-1)
    if (last === undefined) continue
    const isPast = last !== file || (fetchedAt ?? 0) > at
    known.push({ interval, path: join(folder, last), versions: files.length, isPast })
  }
  const facts = await factsOf(known.filter(({ isPast }) => isPast).map(({ path }) => path))
  return new Map(
    known.map(({ interval, path, versions, isPast }) => {
      const then = isPast ? intervalThen(interval, path, facts.get(path)) : interval
      return [intervalKey(then.resource, then.day), { ...then, versions, error: null }]
    }),
  )
}

/** When the first day landed, milliseconds since the epoch; undefined if none did. */
export async function firstLanding(
  dataFolder: string,
  orgIds: readonly string[],
): Promise<number | undefined> {
  let first: number | undefined
  for (const orgId of orgIds) {
    for (const { resource, day, file } of (await LedgerFile.read(dataFolder, orgId)).values()) {
      if (file === null) continue
      const [oldest = file] = versionsUpTo(rawFolder(dataFolder, orgId, resource, day), file)
      first = Math.min(first ?? Infinity, versionTime(oldest))
    }
  }
  return first
}

/** A day, and the version of it that was current. */
interface Known {
  readonly interval: Interval
  readonly path: string
  readonly versions: number
  /** Whether the ledger's interval describes a later state. */
  readonly isPast: boolean
}

const facts = z.object({
  file: z.string(),
  request_id: z.string().nullable(),
  row_count: z.coerce.number(),
  users: z.coerce.number(),
})

type Facts = z.infer<typeof facts>

function intervalThen(interval: Interval, path: string, facts?: Facts): Interval {
  const { request_id: requestId = null, row_count: rows = 0, users = 0 } = facts ?? {}
  const file = basename(path)
  return {
    ...interval,
    file,
    status: rows === 0 ? 'empty' : 'landed',
    fetchedAt: versionTime(file),
    rowCount: isOfUsers(interval.resource) ? users : rows,
    requestId,
    ...(file === interval.file ? {} : { sha256: null, digest: null }),
  }
}

async function factsOf(paths: readonly string[]): Promise<ReadonlyMap<string, Facts>> {
  if (paths.length === 0) return new Map()
  await using database = await Database.open(':memory:', processLimits().verification)
  const sql = fill(statement('lake/version_facts'), {
    rows: rowsSql(paths),
    metadata: saidSql(paths),
  })
  const found = z.array(facts).parse(await database.rows(sql))
  return new Map(found.map((each) => [each.file, each]))
}

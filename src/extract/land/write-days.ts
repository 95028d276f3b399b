import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Day } from '../../lib/days.ts'
import { AppError } from '../../lib/errors.ts'
import { allOrThrow } from '../../lib/concurrency.ts'
import { listLiteral, literal, type Database } from '../../lib/duckdb.ts'
import { temporaryPath, putInPlace, removeFile, syncedSums } from '../../lib/files.ts'
import { statement, fill } from '../../lib/package.ts'
import { bufferPath } from './buffer-paths.ts'
import { type DayContent, writeLines, type DayRows, type LineFile } from './row-lines.ts'
import type { LandingDatabase } from './landing-database.ts'

/** A version of a day that is to be written. */
export interface NewVersion {
  readonly day: Day
  readonly content: DayContent
  /** When it was fetched, later than the versions before it; milliseconds since the epoch. */
  readonly fetchedAt: number
  readonly path: string
}

const LINES = statement('raw/lines')
const LAND = statement('raw/land')
const WRITTEN = statement('raw/written')

/** Characters of the days that are written together: they are in memory at once. */
const CHARACTERS_TOGETHER = 4 * 1024 * 1024

/** What lines are read through; longer ones raise it. */
const BUFFER_BYTES = 1024 * 1024

/**
 * Writes versions of days of one resource, each to a temporary file, synced, renamed. Small days are
 * written together: a statement of its own takes one longer than its rows do.
 *
 * @returns the files, by their days.
 */
export async function writeDays(
  to: Destination,
  resource: string,
  versions: readonly NewVersion[],
): Promise<Map<Day, WrittenFile>> {
  const all = await allOrThrow(
    batch(versions).map(async (batch) => {
      const files = batch.map((version) => ({ ...version, temporary: temporaryPath(version.path) }))
      try {
        for (const { path } of files) mkdirSync(dirname(path), { recursive: true })
        await withLines(to, resource, batch, (lines) =>
          to.database.use((database) => copyDays(database, to.orgId, resource, files, lines)),
        )
        return await allOrThrow(files.map(putDay))
      } catch (error) {
        for (const { temporary } of files) await removeFile(temporary)
        throw error
      }
    }),
  )
  return new Map(all.flat())
}

interface Destination {
  readonly dataFolder: string
  readonly orgId: string
  readonly database: LandingDatabase
}

export interface WrittenFile {
  readonly path: string
  readonly sha256: string
}

interface File extends NewVersion {
  readonly temporary: string
}

async function putDay({ day, path, temporary }: File): Promise<[Day, WrittenFile]> {
  const { sha256 } = await syncedSums(temporary)
  await putInPlace(temporary, path)
  return [day, { path, sha256 }]
}

/** Days in turn, together as long as they are few characters. */
function batch(versions: readonly NewVersion[]): NewVersion[][] {
  const batches: NewVersion[][] = []
  let left = 0
  for (const version of versions) {
    const { characters } = version.content.source
    const batch = batches.at(-1)
    left -= characters
    if (batch !== undefined && left >= 0) batch.push(version)
    else {
      batches.push([version])
      left = CHARACTERS_TOGETHER - characters
    }
  }
  return batches
}

/** Files of lines, and the source of the lines of each day: the file that has them alone, or else the day. */
interface Lines {
  readonly files: readonly LineFile[]
  readonly sourceOf: ReadonlyMap<Day, string>
}

/** Runs `work` with the lines of all days: in files of their own, or in one for the others. */
async function withLines(
  to: Destination,
  resource: string,
  batch: readonly NewVersion[],
  work: (lines: Lines) => Promise<void>,
): Promise<void> {
  const files: LineFile[] = []
  const sourceOf = new Map<Day, string>()
  const others: DayRows[] = []
  for (const { day, content } of batch) {
    const own = 'openFile' in content.source ? await content.source.openFile() : undefined
    if (own !== undefined) files.push(own)
    else if ('rows' in content.source) others.push({ day, rows: content.source.rows() })
    sourceOf.set(day, own?.path ?? day)
  }
  const [first] = others
  if (first === undefined) return work({ files, sourceOf })
  const path = temporaryPath(bufferPath(to, resource, first.day, 'ndjson'))
  try {
    files.push(writeLines(path, others))
    await work({ files, sourceOf })
  } finally {
    await removeFile(path)
  }
}

/** @throws AppError when a file has not the rows of its day. */
async function copyDays(
  database: Database,
  orgId: string,
  resource: string,
  files: readonly File[],
  lines: Lines,
): Promise<void> {
  const longest = Math.max(BUFFER_BYTES, ...lines.files.map(({ longestLine }) => longestLine))
  const copies = files.map(({ day, content: { last, digest }, fetchedAt, temporary }) =>
    fill(LAND, {
      rows:
        files.length === 1
          ? 'lines'
          : `batch where source = ${literal(lines.sourceOf.get(day) ?? day)}`,
      file: literal(temporary),
      org_id: literal(orgId),
      resource: literal(resource),
      activity_date: literal(day),
      fetched_at: literal(new Date(fetchedAt).toISOString()),
      request_id: literal(last.requestId ?? ''),
      run_id: literal(last.runId),
      digest: literal(digest),
    }),
  )
  const pointInTime = fill(LINES, {
    files: listLiteral(lines.files.map(({ path }) => path)),
    longest_line: String(longest),
    buffer_size: String(longest + 1),
  })
  const batch = files.length === 1 ? [] : ['create or replace temp table batch as from lines']
  await database.run([pointInTime, ...batch, ...copies].join(';\n'))
  const temporaries = listLiteral(files.map(({ temporary }) => temporary))
  const written = await database.rows(fill(WRITTEN, { files: temporaries }))
  const countOf = new Map(written.map(({ file, rows }) => [file, Number(rows)]))
  for (const { day, content, temporary } of files) {
    const rows = countOf.get(temporary) ?? 0
    if (rows === content.count) continue
    throw new AppError(`${resource} ${day}: ${rows} of ${content.count} rows were written`)
  }
}

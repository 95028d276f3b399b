import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Day } from '../../lib/days.ts'
import { AppError } from '../../lib/errors.ts'
import { allOrThrow } from '../../lib/concurrency.ts'
import { listLiteral, literal, Database } from '../../lib/duckdb.ts'
import { packed } from '../../lib/grouped.ts'
import { temporaryPath, putInPlace, removeFile, syncedSums } from '../../lib/files.ts'
import { statement, fill } from '../../lib/package.ts'
import { bufferPath } from './buffer-paths.ts'
import { type DayContent, writeLines, type DayRows, type LineFile } from './row-lines.ts'
import { ConnectionPool } from '../../lib/connection-pool.ts'
import { processLimits } from '../../lib/machine.ts'
import { spillFolder } from '../../lib/spill.ts'

/** Temporary macros belong to a connection. */
const MACROS = statement('lake/macros')

/**
 * The database that writes raw days and reads what has landed, one day per thread, so that the
 * memory for a day depends on its largest row, not on the number of rows.
 */
export class LandingDatabase extends ConnectionPool<Database> {
  constructor(dataFolder: string) {
    const { landing } = processLimits()
    super({
      concurrency: landing.threads,
      open: () =>
        Database.open(':memory:', {
          ...landing,
          // It needs no threads of its own: they would take work from the threads that wait for it.
          threads: 1,
          isLowMemory: true,
          tempDirectory: spillFolder(dataFolder),
        }),
      prepare: async (database) => {
        await database.run(MACROS)
        return database
      },
    })
  }
}

/** A version of a day that is to be written. */
interface NewVersion {
  readonly day: Day
  readonly content: DayContent
  /** When it was fetched, later than the versions before it; milliseconds since the epoch. */
  readonly fetchedAt: number
  readonly path: string
}

const LINES = statement('raw/lines')
const LAND = statement('raw/land')
const BATCH = 'create or replace temp table batch as from lines'
const COUNTS = statement('raw/counts')

/** Maximum characters of days written together: all of them are in memory at once. */
const CHARACTERS_TOGETHER = 4 * 1024 * 1024

/** The size of the buffer for reading lines; a longer line raises it. */
const BUFFER_BYTES = 1024 * 1024

/**
 * Writes versions of days of one resource, each to a temporary file that is synced and renamed.
 * Small days share a statement, because a statement takes longer than their rows.
 *
 * @returns the files, by their days.
 */
export async function writeDays(
  to: Destination,
  resource: string,
  versions: readonly NewVersion[],
): Promise<Map<Day, WrittenFile>> {
  const sized = versions.map((version) => ({
    ...version,
    bytes: version.content.source.characters,
  }))
  const batches = packed(sized, CHARACTERS_TOGETHER)
  const written = batches.map((batch) => writeBatch(to, resource, batch))
  return new Map((await allOrThrow(written)).flat())
}

export interface Destination {
  readonly dataFolder: string
  readonly orgId: string
  readonly database: LandingDatabase
}

export interface WrittenFile {
  readonly path: string
  readonly sha256: string
}

interface NewFile extends NewVersion {
  readonly temporary: string
  /** Identifies its lines: the file if it holds only these lines, else the day. */
  readonly dayOrFile: string
}

async function writeBatch(
  to: Destination,
  resource: string,
  batch: readonly NewVersion[],
): Promise<[Day, WrittenFile][]> {
  const files: NewFile[] = []
  const lines: LineFile[] = []
  const others: DayRows[] = []
  const [first] = batch
  if (first === undefined) return []
  const shared = temporaryPath(bufferPath(to, resource, first.day, 'lines'))
  try {
    for (const version of batch) {
      const { day, content, path } = version
      mkdirSync(dirname(path), { recursive: true })
      const own = 'openFile' in content.source ? await content.source.openFile() : undefined
      if (own !== undefined) lines.push(own)
      if ('rows' in content.source) others.push({ day, rows: content.source.rows() })
      files.push({ ...version, temporary: temporaryPath(path), dayOrFile: own?.path ?? day })
    }
    if (others.length > 0) lines.push(writeLines(shared, others))
    await to.database.use((database) => copyDays(database, to.orgId, resource, files, lines))
    return await allOrThrow(files.map(putDay))
  } catch (error) {
    for (const { temporary } of files) await removeFile(temporary)
    throw error
  } finally {
    if (others.length > 0) await removeFile(shared)
  }
}

async function putDay({ day, path, temporary }: NewFile): Promise<[Day, WrittenFile]> {
  const { sha256 } = await syncedSums(temporary)
  await putInPlace(temporary, path)
  return [day, { path, sha256 }]
}

/** @throws AppError if a file does not contain the rows of its day. */
async function copyDays(
  database: Database,
  orgId: string,
  resource: string,
  files: readonly NewFile[],
  lines: readonly LineFile[],
): Promise<void> {
  const isAlone = files.length === 1
  const longest = Math.max(BUFFER_BYTES, ...lines.map(({ longestLine }) => longestLine))
  const view = fill(LINES, {
    files: listLiteral(lines.map(({ path }) => path)),
    longest_line: String(longest),
    buffer_size: String(longest + 1),
  })
  const copies = files.map(({ day, dayOrFile, content: { last, digest }, fetchedAt, temporary }) =>
    fill(LAND, {
      rows: isAlone ? 'lines' : `batch where day_or_file = ${literal(dayOrFile)}`,
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
  // one script: between statements, the database would wait for this thread
  const script = isAlone ? [view, ...copies] : [view, BATCH, ...copies, COUNTS]
  const counts = await database.rows(script.join(';\n'))
  const countOf = new Map(counts.map((row) => [row['day_or_file'], Number(row['rows'])]))
  for (const { day, dayOrFile, content } of files) {
    const rows = isAlone ? Number(counts[0]?.['Count']) : (countOf.get(dayOrFile) ?? 0)
    if (rows === content.count) continue
    throw new AppError(`${resource} ${day}: ${rows} of ${content.count} rows were written`)
  }
}

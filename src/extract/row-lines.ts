import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { asidePath } from '../store/files.ts'
import type { PageOrigin } from './page-text.ts'

/** A row as it is in the lake: its JSON text, and where it comes from. */
export interface RawRow {
  readonly item: string
  readonly ordinal: number
  readonly origin: PageOrigin
}

/** Files of JSON lines that sql/land.sql reads. */
export interface LineFiles {
  readonly paths: readonly string[]
  /** Bytes of the longest line. */
  readonly longestLine: number
}

/** DuckDB reads a file of lines through a buffer of 32 MB, of which it fills what the file has. */
const FILE_BYTES = 2 * 1024 * 1024

/**
 * Runs `work` with the rows as lines, in files of some megabytes beside `path`, of
 * which at least one is there. They are gone afterwards.
 */
export async function withLines<T>(
  path: string,
  rows: AsyncIterable<RawRow> | Iterable<RawRow>,
  work: (files: LineFiles) => Promise<T>,
): Promise<T> {
  const paths: string[] = []
  await mkdir(dirname(path), { recursive: true })
  try {
    const longestLine = await write(path, rows, paths)
    return await work({ paths, longestLine })
  } finally {
    for (const each of paths) await rm(each, { force: true })
  }
}

async function write(
  path: string,
  rows: AsyncIterable<RawRow> | Iterable<RawRow>,
  paths: string[],
): Promise<number> {
  let lines: string[] = []
  let bytes = 0
  let longest = 0
  const writeFileOfLines = async (): Promise<void> => {
    const aside = asidePath(path)
    paths.push(aside)
    await writeFile(aside, lines.join(''), { flag: 'wx' })
    lines = []
    bytes = 0
  }
  const textOf = originTexts()
  for await (const { item, ordinal, origin } of rows) {
    const line = `{"item":${JSON.stringify(item)},"ordinal":${ordinal}${textOf(origin)}`
    const length = Buffer.byteLength(line)
    lines.push(line)
    bytes += length
    longest = Math.max(longest, length)
    if (bytes >= FILE_BYTES) await writeFileOfLines()
  }
  if (bytes > 0 || paths.length === 0) await writeFileOfLines()
  return longest
}

/** The end of a line; rows of one page follow each other. */
function originTexts(): (origin: PageOrigin) => string {
  let last: PageOrigin | undefined
  let text = ''
  return (origin) => {
    if (origin !== last) text = originText(origin)
    last = origin
    return text
  }
}

function originText({ page, fetchedAt, request, requestId, runId }: PageOrigin): string {
  const fields = {
    page,
    fetched_at: new Date(fetchedAt).toISOString(),
    request,
    request_id: requestId,
    run_id: runId,
  }
  return `,${JSON.stringify(fields).slice(1)}\n`
}

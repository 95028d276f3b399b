import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { ProjectError } from './errors.ts'
import type { SeedFile } from './types.ts'

const BOM = '\u{FEFF}'
const LINE_BREAK = /\r\n|\r|\n/

/** Workbooks write the separator of their country; it is found in the first line. */
const DELIMITERS = [',', ';', '\t']

/**
 * What the first line of a CSV file (RFC 4180, UTF-8, with or without a byte
 * order mark, fields separated by commas, semicolons or tabs) reports it.
 *
 * @throws ProjectError at the line that is not UTF-8, and for an empty file.
 */
export async function readCsv(path: string, place: string): Promise<SeedFile> {
  const bytes = await readFile(path)
  const [first = ''] = textOf(bytes, place).split(LINE_BREAK, 1)
  if (first.trim() === '') {
    throw new ProjectError({ file: place, line: 1 }, 'the first line must name the columns')
  }
  const delimiter = delimiterOf(first)
  const header = first.split(delimiter).map((name) => name.trim().replace(/^"(.*)"$/, '$1'))
  return {
    path,
    place,
    digest: createHash('sha256').update(bytes).digest('hex'),
    delimiter,
    header,
  }
}

/** The line on which each record begins, the header's first: quoted fields may hold line breaks. */
export async function recordLines({ path, place }: SeedFile): Promise<number[]> {
  const lines: number[] = []
  let isQuoted = false
  for (const [index, line] of textOf(await readFile(path), place)
    .split(LINE_BREAK)
    .entries()) {
    if (!isQuoted && line !== '') lines.push(index + 1)
    if (line.split('"').length % 2 === 0) isQuoted = !isQuoted
  }
  return lines
}

function textOf(bytes: Buffer, place: string): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return text.startsWith(BOM) ? text.slice(BOM.length) : text
  } catch {
    throw new ProjectError({ file: place, line: brokenLine(bytes) }, 'the file is not UTF-8', {
      hint: 'In a workbook, save it as "CSV UTF-8".',
    })
  }
}

/** The first line that is not UTF-8. */
function brokenLine(bytes: Buffer): number {
  const text = bytes.toString('utf8')
  const broken = text.indexOf('\u{FFFD}')
  return text.slice(0, Math.max(broken, 0)).split(LINE_BREAK).length
}

/** The one that parts the header into most columns. */
function delimiterOf(header: string): string {
  const count = (delimiter: string): number => header.split(delimiter).length
  return DELIMITERS.reduce((best, each) => (count(each) > count(best) ? each : best))
}

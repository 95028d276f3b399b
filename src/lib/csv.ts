import { isUtf8 } from 'node:buffer'
import { UsageError } from './errors.ts'
import { counted } from './text.ts'

/** The delimiter of a CSV file depends on the country of the workbook that it comes from. */
const DELIMITERS = [',', ';', '\t']

/** The delimiter that splits the header into the most columns. */
export function delimiterOf(header: string): string {
  const count = (delimiter: string): number => header.split(delimiter).length
  return DELIMITERS.reduce((best, each) => (count(each) > count(best) ? each : best))
}

/**
 * Reads a CSV file with one record per line. The first line names the columns and shows the
 * delimiter; fields may be quoted. Returns the column names in lower case, and, for each other
 * line that is not blank, its number (from 1, the header included) and its trimmed fields by column;
 * `fields` throws a UsageError for a broken line.
 *
 * @throws UsageError, which names file and line, for a broken header.
 */
export function readCsv(text: string, file: string) {
  const [header = '', ...lines] = text.replace(/^\ufeff/, '').split(/\r\n|\r|\n/)
  const delimiter = delimiterOf(header)
  const columns = atLine(file, 1, () => fieldsOf(header, delimiter)).map((name) =>
    name.toLowerCase(),
  )
  const twice = columns.find((name, at) => name !== '' && columns.indexOf(name) < at)
  if (twice !== undefined) {
    throw new UsageError(`${file}:1: column '${twice}' appears twice`, {
      hint: 'Remove one of the two columns.',
    })
  }
  return {
    header,
    columns,
    lines: lines.flatMap((line, index) => {
      if (line.trim() === '') return []
      const fields = (): Record<string, string> => {
        const texts = fieldsOf(line, delimiter)
        if (texts.length !== columns.length) {
          throw new UsageError(...wrongFields(texts.length, columns.length, delimiter))
        }
        return Object.fromEntries(columns.map((name, at) => [name, texts[at] ?? '']))
      }
      return [{ number: index + 2, fields }]
    }),
  }
}

/** A record of a CSV text, and the number of its first line, from 1. */
export interface CsvRecord {
  readonly line: number
  readonly fields: readonly string[]
}

/** More doubled quotes in a field would exhaust the stack of the regular expression. */
const MOST_QUOTES = 1_999_999

/**
 * The records of a CSV text (RFC 4180), the header included, without blank lines. A quoted field
 * may hold line breaks, and blanks around its quotes are left out.
 *
 * @throws UsageError, which names file and line, for a broken quote.
 */
export function recordsOf(text: string, delimiter: string, file: string): CsvRecord[] {
  const bare = `(?! *")[^${delimiter}\\r\\n]*`
  const field = `(?: *"([^"]*(?:""[^"]*){0,${MOST_QUOTES}})" *|(${bare}))(${delimiter}|\\r\\n|\\r|\\n|$)`
  const records: CsvRecord[] = []
  let [end, line, nextLine] = [0, 1, 1]
  let fields: string[] = []
  for (const [all, quoted, unquoted = '', after] of text.matchAll(new RegExp(field, 'gy'))) {
    end += all.length
    nextLine += all.split(/\r\n|\r|\n/).length - 1
    fields.push(quoted?.replaceAll('""', '"') ?? unquoted)
    if (after === delimiter) continue
    if (fields.length > 1 || fields[0] !== '') records.push({ line, fields })
    fields = []
    line = nextLine
  }
  if (end === text.length) return records
  throw new UsageError(`${file}:${line}: a double quote is not closed, or text follows it`, {
    hint: 'Quote the whole field, and write a double quote in it twice.',
  })
}

/** Decodes UTF-8. @throws UsageError, which names file and line, for other bytes. */
export function utf8Text(bytes: Uint8Array, file: string): string {
  if (isUtf8(bytes)) return new TextDecoder().decode(bytes)
  const lines = Buffer.from(bytes)
    .toString('latin1')
    .split(/\r\n|\r|\n/)
  const index = lines.findIndex((line) => !isUtf8(Buffer.from(line, 'latin1')))
  throw new UsageError(`${file}:${index + 1}: the file is not UTF-8`, {
    hint: 'Save it as UTF-8, which spreadsheet programs call "CSV UTF-8".',
  })
}

/** Runs `work` on a line, and adds the place to the message of a UsageError. */
export function atLine<T>(file: string, line: number, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    throw new UsageError(`${file}:${line}: ${error.message}`, { hint: error.hint })
  }
}

/** What is wrong with a line that has another number of fields than the first, and the next step. */
export function wrongFields(
  found: number,
  expected: number,
  delimiter: string,
): [problem: string, next: { readonly hint: string }] {
  const problem = `the line has ${counted(found, 'field')}, the first line has ${expected}`
  return [problem, { hint: `A field with '${delimiter}' must be in double quotes.` }]
}

const QUOTING = 'Quote the whole field on one line, and write a double quote in it twice.'

/** The fields of one line, trimmed. A quoted field may hold the delimiter, and doubled quotes. */
function fieldsOf(line: string, delimiter: string): string[] {
  const fields: string[] = []
  let at = 0
  for (;;) {
    // blanks around the quotes, but not tabs, which may be the delimiter
    const quoted = /^ *"((?:[^"]|"")*)" */.exec(line.slice(at))
    const end = quoted === null ? line.indexOf(delimiter, at) : at + quoted[0].length
    const field = quoted?.[1]?.replaceAll('""', '"') ?? line.slice(at, end < 0 ? undefined : end)
    if (quoted === null && field.includes('"')) {
      throw new UsageError('a double quote is not closed', { hint: QUOTING })
    }
    fields.push(field.trim())
    if (end < 0 || end >= line.length) return fields
    if (line[end] !== delimiter) {
      throw new UsageError('text follows a closing double quote', { hint: QUOTING })
    }
    at = end + 1
  }
}

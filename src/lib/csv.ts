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
 * Reads a CSV file. The first line names the columns and shows the delimiter. Returns the column
 * names in lower case, and, for each other record, the number of its first line (from 1, the header
 * included) and its trimmed fields by column; `fields` throws a UsageError for a broken record.
 *
 * @throws UsageError, which names file and line, for a broken header or quote.
 */
export function readCsv(text: string, file: string) {
  const all = text.replace(/^\ufeff/, '')
  const [header = ''] = all.split(/[\r\n]/, 1)
  const delimiter = delimiterOf(header)
  const names = recordsOf(header, delimiter, file)[0]?.fields ?? ['']
  const columns = names.map((name) => name.trim().toLowerCase())
  const twice = columns.find((name, at) => name !== '' && columns.indexOf(name) < at)
  if (twice !== undefined) {
    throw new UsageError(`${file}:1: column '${twice}' appears twice`, {
      hint: 'Remove one of the two columns.',
    })
  }
  return {
    header,
    columns,
    lines: recordsOf(all, delimiter, file).flatMap(({ line: number, fields: texts }) => {
      if (number === 1 || texts.join(delimiter).trim() === '') return []
      const fields = (): Record<string, string> => {
        if (texts.length !== columns.length) {
          throw new UsageError(...wrongFields(texts.length, columns.length, delimiter))
        }
        return Object.fromEntries(columns.map((name, at) => [name, texts[at]?.trim() ?? '']))
      }
      return [{ number, fields }]
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
  const problem = 'a double quote is not closed, or text follows a closing double quote'
  throw new UsageError(`${file}:${line}: ${problem}`, {
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

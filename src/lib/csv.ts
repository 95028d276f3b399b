import { UsageError } from './errors.ts'

const DELIMITERS = [',', ';', '\t']

/** A CSV file whose first line names its columns. */
export interface Csv {
  /** The first line as it is. */
  readonly header: string
  /** In small letters. */
  readonly columns: readonly string[]
  /** The other lines that are not blank. */
  readonly lines: readonly CsvLine[]
}

export interface CsvLine {
  /** From 1, the header included. */
  readonly number: number
  /** Its fields by column, trimmed. @throws UsageError for a line that is broken. */
  readonly fields: () => Readonly<Record<string, string>>
}

/**
 * A CSV file of one record a line: fields may be in quotes; the delimiter is what the header has.
 *
 * @throws UsageError, which names file and line, for a header that is broken.
 */
export function readCsv(text: string, file: string): Csv {
  const [header = '', ...lines] = text.replace(/^\ufeff/, '').split(/\r\n|\r|\n/)
  const delimiter = DELIMITERS.find((each) => header.includes(each)) ?? ','
  const columns = atLine(file, 1, () => fieldsOf(header, delimiter)).map((name) =>
    name.toLowerCase(),
  )
  const numbered = lines.map((line, index) => ({ line, number: index + 2 }))
  return {
    header,
    columns,
    lines: numbered
      .filter(({ line }) => line.trim() !== '')
      .map(({ line, number }) => ({
        number,
        fields: () => recordOf(fieldsOf(line, delimiter), columns),
      })),
  }
}

/** The result of `work` on a line. @throws its UsageError with the place before its message */
export function atLine<T>(file: string, line: number, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    throw new UsageError(`${file}:${line}: ${error.message}`, { hint: error.hint })
  }
}

function recordOf(fields: readonly string[], columns: readonly string[]): Record<string, string> {
  if (fields.length !== columns.length) {
    const what = fields.length === 1 ? '1 field' : `${fields.length} fields`
    throw new UsageError(`${what} instead of ${columns.length}`)
  }
  return Object.fromEntries(columns.map((name, at) => [name, fields[at] ?? '']))
}

/** Fields of one line, trimmed; one in quotes may hold the delimiter, and quotes doubled. */
function fieldsOf(line: string, delimiter: string): string[] {
  const fields: string[] = []
  let at = 0
  for (;;) {
    const quoted = /^\s*"((?:[^"]|"")*)"\s*/.exec(line.slice(at))
    const end = quoted === null ? line.indexOf(delimiter, at) : at + quoted[0].length
    const field = quoted?.[1]?.replaceAll('""', '"') ?? line.slice(at, end < 0 ? undefined : end)
    if (quoted === null && field.includes('"')) throw new UsageError('a quote that does not end')
    fields.push(field.trim())
    if (end < 0 || end >= line.length) return fields
    if (line[end] !== delimiter) throw new UsageError('text after a quote')
    at = end + 1
  }
}

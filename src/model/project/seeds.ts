import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { delimiterOf, utf8Text, wrongFields } from '../../lib/csv.ts'
import { listIfThere, orIfMissing } from '../../lib/files.ts'
import { digits, suggestion } from '../../lib/text.ts'
import { ProjectError, requireKnown } from './errors.ts'
import { keyOfTest } from './properties.ts'
import type { Seed, SeedFile, GenericTest } from './types.ts'
import { z } from 'zod'
import { identifier, literal, type Database } from '../../lib/duckdb.ts'
import { statement, fill } from '../../lib/package.ts'
import type { SeedType } from './shapes.ts'

export interface SeedChoice {
  /** A folder with the user's own files, which replace those of the project. */
  readonly seedFolder?: string
  /** Names, without `.csv`, of files in that folder that are not for seeds. */
  readonly notSeeds?: readonly string[]
  /** Called for any other file in that folder without a seed of its name. */
  readonly warn?: (message: string) => void
}

/**
 * Reads the seeds from their CSV files.
 *
 * @throws ProjectError for a file that does not begin with the columns of its yml.
 */
export async function seedsOf(
  files: readonly Omit<Seed, 'csv'>[],
  folder: string,
  choice: SeedChoice,
): Promise<Seed[]> {
  const own = await ownFiles(choice, new Set(files.map(({ name }) => name)))
  const seeds: Seed[] = []
  for (const seed of files) {
    const ownPath = own.get(seed.name)
    const csv = await readCsv(ownPath ?? join(folder, seed.file), ownPath ?? seed.file)
    compareHeader(csv, seed)
    seeds.push({ ...seed, csv })
  }
  return seeds
}

/** The paths of the user's files by the name of their seed. */
async function ownFiles(
  { seedFolder, notSeeds = [], warn }: SeedChoice,
  known: ReadonlySet<string>,
): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  if (seedFolder === undefined) return found
  for (const entry of await listIfThere(seedFolder)) {
    const ending = extname(entry.name)
    const name = basename(entry.name, ending)
    if (ending.toLowerCase() !== '.csv' || notSeeds.includes(name)) continue
    const path = join(seedFolder, entry.name)
    if (known.has(name)) found.set(name, path)
    else
      warn?.(`${path} is not used, because there is no seed '${name}'. ${suggestion(name, known)}`)
  }
  return found
}

function compareHeader(
  { header, place: file }: SeedFile,
  { columns, tests }: Pick<Seed, 'columns' | 'tests'>,
): void {
  const place = { file, line: 1 }
  const known = columns.map(({ name }) => name)
  for (const [index, name] of header.entries()) {
    requireKnown(place, 'column', name, known)
    if (header.indexOf(name) === index) continue
    throw new ProjectError(place, `column '${name}' appears twice`)
  }
  // a column without a not_null test may be left out: its values are NULL
  const required = requiredColumns(tests)
  const lacking = columns.find(({ name }) => !header.includes(name) && required.includes(name))
  if (lacking === undefined) return
  throw new ProjectError(place, `column '${lacking.name}' is missing`, {
    hint: `${lacking.name}: ${lacking.description}`,
  })
}

const LINE_BREAK = /\r\n|\r|\n/

/**
 * Reads the header of a CSV file (RFC 4180, UTF-8, with or without a byte
 * order mark, fields separated by commas, semicolons or tabs).
 *
 * @throws UsageError at a line that is not UTF-8, for an empty file, and for what is no file.
 */
async function readCsv(path: string, place: string): Promise<SeedFile> {
  if ((await orIfMissing(stat(path), undefined))?.isFile() !== true) {
    throw new ProjectError({ file: place }, 'this is not a file', {
      hint: 'Replace it by a CSV file, or remove it.',
    })
  }
  const bytes = await readFile(path)
  const [first = ''] = utf8Text(bytes, place).split(LINE_BREAK, 1)
  if (first.trim() === '') {
    throw new ProjectError({ file: place, line: 1 }, 'the first line must name the columns')
  }
  const delimiter = delimiterOf(first)
  const header = first.split(delimiter).map((name) => name.trim().replace(/^"(.*)"$/, '$1'))
  const digest = createHash('sha256').update(bytes).digest('hex')
  return { path, place, digest, delimiter, header }
}

/** The first line of each record, beginning with the header; quoted fields may hold line breaks. */
async function recordLines({ path, place }: SeedFile): Promise<number[]> {
  const lines: number[] = []
  let isQuoted = false
  const text = utf8Text(await readFile(path), place)
  for (const [index, line] of text.split(LINE_BREAK).entries()) {
    if (!isQuoted && line !== '') lines.push(index + 1)
    if (line.split('"').length % 2 === 0) isQuoted = !isQuoted
  }
  return lines
}

/** A select of the seed's typed rows; a column that the file lacks is NULL. */
export function seedSql(seed: Seed): string {
  const { csv, types } = seed
  const expressions = [...csv.header.map(identifier), ...absent(seed, (name) => types[name] ?? '')]
  return readSql('rows', csv, types, { expressions: expressions.join(', ') })
}

/** SQL for the columns that the file lacks. */
function absent({ csv, columns }: Seed, typeOf: (name: string) => string): string[] {
  return columns
    .filter(({ name }) => !csv.header.includes(name))
    .map(({ name }) => `cast(null as ${typeOf(name)}) as ${identifier(name)}`)
}

/**
 * The lines of the records that a statement selects. In the statement, `{{ texts }}`
 * is a relation of the records as text, numbered in the column `record`; a column that
 * the file lacks is NULL. The statement selects `record`.
 */
export async function seedLines(db: Database, seed: Seed, sql: string): Promise<number[]> {
  const columns = ['*', ...absent(seed, () => 'varchar')].join(', ')
  const texts = `select ${columns} from (${readSql('texts', seed.csv, {}, {})})`
  const rows = z.array(recordRow).parse(await db.rows(fill(sql, { texts })))
  const lines = await recordLines(seed.csv)
  return rows.map(({ record }) => lines[record] ?? 1)
}

/** Why DuckDB rejects the file, with the line; undefined if its contents are not the cause. */
export async function explainSeed(db: Database, seed: Seed): Promise<ProjectError | undefined> {
  const { csv, types } = seed
  const sql = readSql('rows', csv, types, { expressions: '*' })
  await db.run(`from (${sql.replace(/\)$/, ', store_rejects = true)')})`)
  const row = await first(db, 'rejects', {}, rejectRow)
  if (row === undefined) return undefined
  return new ProjectError(
    { file: csv.place, line: await lineAt(csv, row.position) },
    ...problemOf(row, seed),
  )
}

type Problem = readonly [problem: string, next?: { readonly hint: string }]

function problemOf(
  { type, message, column_name: column }: z.output<typeof rejectRow>,
  { csv, types }: Seed,
): Problem {
  const seedType = types[column ?? '']
  const [, value] = /Could not convert string "(.*)" to '/s.exec(message) ?? []
  if (type === 'CAST' && seedType !== undefined && value !== undefined) {
    return wrongValue(column ?? '', value, seedType)
  }
  if (type === 'UNQUOTED VALUE' || message.includes('unterminated quote')) {
    const hint = 'Quote the whole field, and write a double quote in it twice.'
    return ['a double quote is not closed, or text follows it', { hint }]
  }
  const [, most] = /^Maximum line size of (\d+) bytes exceeded/.exec(message) ?? []
  if (most !== undefined) {
    const hint = 'Shorten it, or close a double quote that is open.'
    return [`the line is longer than ${digits(Number(most))} bytes`, { hint }]
  }
  const [, fields] = /Found: (\d+)/.exec(message) ?? []
  if (fields === undefined) return [message]
  return wrongFields(Number(fields), csv.header.length, csv.delimiter)
}

/**
 * Rejects what DuckDB accepts and the yml forbids: a number that would be rounded, is infinite or
 * below the `minimum` of its column, an empty value, and a key that occurs on two lines.
 *
 * @throws ProjectError with the line.
 */
export async function verifySeed(db: Database, seed: Seed): Promise<void> {
  const { csv, types } = seed
  const texts = readSql('texts', csv, {}, {})
  const refuse = async <S extends z.ZodType<{ readonly record: number }>>(
    name: string,
    values: Readonly<Record<string, string>>,
    shape: S,
    explain: (row: z.output<S>, lineOf: (record: number) => number) => Problem,
  ): Promise<void> => {
    const row = await first(db, name, { texts, ...values }, shape)
    if (row === undefined) return
    const lines = await recordLines(csv)
    const lineOf = (record: number): number => lines[record] ?? 1
    const place = { file: csv.place, line: lineOf(row.record) }
    throw new ProjectError(place, ...explain(row, lineOf))
  }

  for (const { name, meta } of seed.columns) {
    const type = types[name]
    if (type === undefined || type === 'varchar' || type === 'boolean') continue
    if (!csv.header.includes(name)) continue
    const values = { column: identifier(name), type }
    await refuse(NOT_OF_TYPE[type], values, valueRow, ({ value }) => wrongValue(name, value, type))
    const { minimum } = meta
    if (typeof minimum !== 'number') continue
    await refuse('below', { ...values, minimum: String(minimum) }, valueRow, ({ value }) => [
      `column '${name}': '${value}' is below ${minimum}`,
      { hint: `Write a number of ${minimum} or more.` },
    ])
  }
  for (const test of seed.tests) {
    const names = keyOfTest(test).filter((name) => csv.header.includes(name))
    if (test.severity !== 'error' || names.length === 0) continue
    const key = names.map(
      (name) => `cast(cast(${identifier(name)} as ${types[name] ?? ''}) as varchar)`,
    )
    // a test of one column ignores NULL
    const isKey = test.column === null ? 'true' : `${identifier(test.column)} is not null`
    const values = { key: `[${key.join(', ')}]`, is_key: isKey }
    await refuse('twice', values, twiceRow, ({ key, first }, lineOf) => {
      const shown = key.map((value) => value ?? 'NULL').join(', ')
      const used = `the key (${names.join(', ')}) = (${shown}) is already used on line ${lineOf(first)}`
      return [used, { hint: 'Remove one of the two lines.' }]
    })
  }
  for (const column of requiredColumns(seed.tests)) {
    await refuse('empty', { column: identifier(column) }, recordRow, () => [
      `column '${column}' is empty`,
      { hint: 'Every line needs a value in this column.' },
    ])
  }
}

const NOT_OF_TYPE = {
  bigint: 'not_whole',
  double: 'not_finite',
  date: 'not_finite',
}

/** The columns that need a value in every line. */
function requiredColumns(tests: readonly GenericTest[]): string[] {
  return tests.flatMap(({ column, severity, arguments: { kind } }) =>
    kind === 'not_null' && severity === 'error' && column !== null ? [column] : [],
  )
}

const whole = z.coerce.number()
const rejectRow = z.object({
  position: whole,
  type: z.string(),
  column_name: z.string().nullable(),
  message: z.string(),
})
const recordRow = z.object({ record: whole })
const valueRow = z.object({ record: whole, value: z.string() })
const twiceRow = z
  .object({ key: z.array(z.string().nullable()), first: whole, second: whole })
  .transform(({ second: record, ...row }) => ({ ...row, record }))

/** The first row that a statement in `sql/seeds` finds. */
async function first<S extends z.ZodType>(
  db: Database,
  name: string,
  values: Readonly<Record<string, string>>,
  shape: S,
): Promise<z.output<S> | undefined> {
  return z.array(shape).parse(await db.rows(fill(statement(`seeds/${name}`), values)))[0]
}

/** A column without a type is read as text. */
function readSql(
  name: 'rows' | 'texts',
  { path, delimiter, header }: SeedFile,
  types: Readonly<Record<string, SeedType>>,
  values: Readonly<Record<string, string>>,
): string {
  const columns = header.map(
    (column) => `${literal(column)}: ${literal(types[column] ?? 'varchar')}`,
  )
  return fill(statement(`seeds/${name}`), {
    path: literal(path),
    delimiter: literal(delimiter),
    columns: `{${columns.join(', ')}}`,
    ...values,
  }).trim()
}

const EXPECTED: Readonly<Record<SeedType, readonly [what: string, hint: string]>> = {
  varchar: ['text', 'Write text.'],
  bigint: ['whole number', 'Write only digits, such as 1200.'],
  double: ['number', 'Write it with a decimal point, such as 1200.50.'],
  date: ['date', 'Write YYYY-MM-DD, such as 2026-01-31.'],
  boolean: ['boolean', 'Write true or false.'],
}

function wrongValue(column: string, value: string, type: SeedType): Problem {
  const [what, hint] = EXPECTED[type]
  return [`column '${column}': '${value}' is not a ${what}`, { hint }]
}

/** The line, from 1, of the record at a byte; DuckDB's position includes empty lines before the record. */
async function lineAt({ path }: SeedFile, position: number): Promise<number> {
  const bytes = await readFile(path)
  let start = position - 1
  while (bytes[start] === 0x0a || bytes[start] === 0x0d) start++
  return bytes.subarray(0, start).toString('latin1').split(LINE_BREAK).length
}

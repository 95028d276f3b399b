import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { delimiterOf, recordsOf, utf8Text, wrongFields } from '../../lib/csv.ts'
import { listIfThere, orIfMissing } from '../../lib/files.ts'
import { digits, suggestion } from '../../lib/text.ts'
import { ProjectError, requireKnown } from './errors.ts'
import { keyOfTest } from './properties.ts'
import type { Seed, SeedFile, GenericTest } from './types.ts'
import { z } from 'zod'
import { identifier, insertRows, type Database } from '../../lib/duckdb.ts'
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
  const text = utf8Text(bytes, place)
  const [first = ''] = text.split(/[\r\n]/, 1)
  if (first.trim() === '') {
    throw new ProjectError({ file: place, line: 1 }, 'the first line must name the columns')
  }
  const delimiter = delimiterOf(first)
  const header = first.split(delimiter).map((name) => name.trim().replace(/^"(.*)"$/, '$1'))
  const digest = createHash('sha256').update(bytes).digest('hex')
  return { text, place, digest, delimiter, header }
}

/** A select of the seed's typed rows, from the table that `loadSeed` writes. */
export function seedSql({ name, columns, types }: Seed): string {
  const typed = columns.map((column) => {
    const quoted = identifier(column.name)
    return `cast(${quoted} as ${types[column.name] ?? ''}) as ${quoted}`
  })
  return `select ${typed.join(', ')} from ${textsOf(name)}`
}

function textsOf(seed: string): string {
  return identifier(`texts_of_${seed}`)
}

const LONGEST = 2_000_000

/**
 * Writes the records of the file as text to a temporary table, each with its line in the column
 * `csv_line`. An empty field is NULL, and so is a column that the file lacks.
 *
 * @throws UsageError with the line of a broken record.
 */
async function writeTexts(db: Database, { name, csv, columns }: Seed): Promise<string> {
  const { text, delimiter, place: file, header } = csv
  const rows = recordsOf(text, delimiter, file).slice(1)
  for (const { line, fields } of rows) {
    if (fields.reduce((sum, { length }) => sum + length, 0) > LONGEST) {
      throw new ProjectError({ file, line }, `the line is longer than ${digits(LONGEST)} bytes`, {
        hint: 'Shorten it, or close a double quote that is open.',
      })
    }
    if (fields.length === header.length) continue
    throw new ProjectError({ file, line }, ...wrongFields(fields.length, header.length, delimiter))
  }
  const table = textsOf(name)
  const texts = columns.map((column) => `${identifier(column.name)} varchar`)
  await db.run(`create or replace temp table ${table} (csv_line bigint, ${texts.join(', ')})`)
  const cellsOf = (fields: readonly string[]) =>
    Object.fromEntries<string | null>(header.map((each, at) => [each, fields[at] || null]))
  const records = rows.map(({ line, fields }) => ({ csv_line: line, ...cellsOf(fields) }))
  await insertRows(db, table, records)
  return table
}

/**
 * The lines of the records that a statement selects. In the statement, `{{ texts }}` is a table of
 * the records as text; a column that the file lacks is NULL. The statement selects `csv_line`.
 */
export async function seedLines(db: Database, seed: Seed, sql: string): Promise<number[]> {
  const texts = await writeTexts(db, seed)
  return lineRows.parse(await db.rows(fill(sql, { texts }))).map(({ csv_line: line }) => line)
}

const lineRow = z.object({ csv_line: z.coerce.number() })
const lineRows = z.array(lineRow)
const wrongRows = z.array(lineRow.extend({ value: z.string().nullable() }))

type Problem = readonly [problem: string, next: { readonly hint: string }]

/**
 * Writes the table that `seedSql` reads. Rejects a value that is not of the type of its column, a
 * number that would be rounded, is infinite or below the `minimum` of its column, an empty value,
 * and a key that occurs on two lines.
 *
 * @throws UsageError with the line.
 */
export async function loadSeed(db: Database, seed: Seed): Promise<void> {
  const { csv, types } = seed
  const texts = await writeTexts(db, seed)
  const refuse = async (
    name: string,
    values: Readonly<Record<string, string>>,
    explain: (value: string) => Problem,
  ): Promise<void> => {
    const sql = fill(statement(`seeds/${name}`), { texts, ...values })
    const [row] = wrongRows.parse(await db.rows(sql))
    if (row === undefined) return
    throw new ProjectError({ file: csv.place, line: row.csv_line }, ...explain(row.value ?? ''))
  }

  for (const { name, meta } of seed.columns) {
    const type = types[name] ?? 'varchar'
    const column = identifier(name)
    const [what, hint, isRight] = TYPES[type]
    await refuse('not_of_type', { column, is_right: isRight(column) }, (value) => [
      `column '${name}': '${value}' is not a ${what}`,
      { hint },
    ])
    const { minimum } = meta
    if (typeof minimum !== 'number') continue
    await refuse('below', { column, type, minimum: String(minimum) }, (value) => [
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
    await refuse('twice', { key: key.join(', '), is_key: isKey }, (value) => [
      `the key (${names.join(', ')}) = ${value}`,
      { hint: 'Remove one of the two lines.' },
    ])
  }
  for (const column of requiredColumns(seed.tests)) {
    await refuse('empty', { column: identifier(column) }, () => [
      `column '${column}' is empty`,
      { hint: 'Every line needs a value in this column.' },
    ])
  }
}

/** The columns that need a value in every line. */
function requiredColumns(tests: readonly GenericTest[]): string[] {
  return tests.flatMap(({ column, severity, arguments: { kind } }) =>
    kind === 'not_null' && severity === 'error' && column !== null ? [column] : [],
  )
}

/** The name of a type, how to write it, and whether a text is of it: a cast alone reads more. */
const TYPES: Readonly<
  Record<SeedType, readonly [what: string, hint: string, isRight: (column: string) => string]>
> = {
  varchar: ['text', 'Write text.', () => 'true'],
  bigint: [
    'whole number',
    'Write only digits, such as 1200.',
    (column) =>
      String.raw`regexp_full_match(trim(${column}), '[+-]?\d+(\.0*)?') and try_cast(${column} as bigint) is not null`,
  ],
  double: [
    'number',
    'Write it with a decimal point, such as 1200.50.',
    (column) => `isfinite(try_cast(${column} as double))`,
  ],
  date: [
    'date',
    'Write YYYY-MM-DD, such as 2026-01-31.',
    // a cast to a date ignores text after it; a cast to a timestamp does not
    (column) =>
      `isfinite(try_cast(${column} as date)) and try_cast(trim(${column}) as timestamp) is not null`,
  ],
  boolean: [
    'boolean',
    'Write true or false.',
    (column) => `try_cast(${column} as boolean) is not null`,
  ],
}

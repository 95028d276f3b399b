import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { identifier, literal, type Database } from '../../lib/duckdb.ts'
import { statement, fill } from '../../lib/package.ts'
import { recordLines } from './csv.ts'
import { ProjectError } from './errors.ts'
import { keyOfTest } from './properties.ts'
import type { GenericTest, Seed, SeedFile } from './types.ts'
import type { SeedType } from './shapes.ts'

/** The rows of a seed, typed; a column that the file has not is NULL. */
export function seedSql({ csv, types, columns }: Seed): string {
  const lacking = columns.filter(({ name }) => !csv.header.includes(name))
  return readSql('rows', csv, types, {
    expressions: [
      ...csv.header.map(identifier),
      ...lacking.map(({ name }) => `cast(null as ${types[name] ?? ''}) as ${identifier(name)}`),
    ].join(', '),
  })
}

/**
 * The lines of the file whose records a statement finds. In the statement
 * `{{ texts }}` is a relation of the records as text, with their number as
 * `record`; a column that the file lacks is NULL. It selects `record`.
 */
export async function seedLines(
  db: Database,
  { csv, columns }: Seed,
  sql: string,
): Promise<number[]> {
  const lacking = columns
    .filter(({ name }) => !csv.header.includes(name))
    .map(({ name }) => `, cast(null as varchar) as ${identifier(name)}`)
  const texts = `select *${lacking.join('')} from (${readSql('texts', csv, {}, {})})`
  const rows = z.array(z.object({ record: whole })).parse(await db.rows(fill(sql, { texts })))
  const lines = await recordLines(csv)
  return rows.map(({ record }) => lines[record] ?? 1)
}

/** Why DuckDB would not read the file, with the line; undefined where it is not for its contents. */
export async function explainSeed(db: Database, seed: Seed): Promise<ProjectError | undefined> {
  const { csv, types } = seed
  const sql = readSql('rows', csv, types, { expressions: '*' })
  await db.run(`from (${sql.replace('strict_mode', 'store_rejects = true, strict_mode')})`)
  const [row] = rejectRows.parse(await db.rows(statement('seeds/rejects')))
  if (row === undefined) return undefined
  const line = await lineAt(csv, row.position)
  const place = { file: csv.place, line }
  const type = types[row.column_name ?? '']
  const [, value] = /Could not convert string "(.*)" to '/s.exec(row.message) ?? []
  if (row.type === 'CAST' && type !== undefined && value !== undefined) {
    return wrongValue(place, row.column_name ?? '', value, type)
  }
  const [, fields] = /Found: (\d+)/.exec(row.message) ?? []
  if (fields === undefined) return new ProjectError(place, row.message)
  const problem = `the line has ${count(Number(fields))}, the first line has ${csv.header.length}`
  return new ProjectError(place, problem, {
    hint: `A field with '${csv.delimiter}' in it stands in double quotes.`,
  })
}

/**
 * What DuckDB reads and the yml does not mean: a number that would be rounded,
 * and a key that two lines have.
 *
 * @throws ProjectError with the line.
 */
export async function proveSeed(db: Database, seed: Seed): Promise<void> {
  const texts = readSql('texts', seed.csv, {}, {})
  for (const [name, type] of Object.entries(seed.types)) {
    if (type !== 'bigint' || !seed.csv.header.includes(name)) continue
    const sql = fill(statement('seeds/not_whole'), { texts, column: identifier(name) })
    const [row] = valueRows.parse(await db.rows(sql))
    if (row !== undefined) throw wrongValue(await placeOf(seed, row.record), name, row.value, type)
  }
  for (const test of seed.tests) {
    if (test.severity === 'error') await refuseTwice(db, seed, test, texts)
  }
}

async function refuseTwice(
  db: Database,
  seed: Seed,
  test: GenericTest,
  texts: string,
): Promise<void> {
  const names = keyOfTest(test).filter((name) => seed.csv.header.includes(name))
  if (names.length === 0) return
  const key = names.map((name) => {
    const typed = `cast(${identifier(name)} as ${seed.types[name] ?? ''})`
    return `cast(${typed} as varchar)`
  })
  // NULL is no value where one column alone is unique
  const isKey = test.column === null ? 'true' : `${identifier(test.column)} is not null`
  const sql = fill(statement('seeds/twice'), { texts, key: `[${key.join(', ')}]`, is_key: isKey })
  const [row] = twiceRows.parse(await db.rows(sql))
  if (row === undefined) return
  const first = await placeOf(seed, row.first)
  const values = row.key.map((value) => value ?? 'NULL').join(', ')
  throw new ProjectError(
    await placeOf(seed, row.second),
    `the key (${names.join(', ')}) = (${values}) is already on line ${String(first.line)}`,
    { hint: 'Take one of the two lines out.' },
  )
}

const whole = z.coerce.number()
const rejectRows = z.array(
  z.object({
    position: whole,
    type: z.string(),
    column_name: z.string().nullable(),
    message: z.string(),
  }),
)
const valueRows = z.array(z.object({ record: whole, value: z.string() }))
const twiceRows = z.array(
  z.object({ key: z.array(z.string().nullable()), first: whole, second: whole }),
)

/** A column that has no type is read as text. */
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

const EXPECTED: Readonly<Record<SeedType, string>> = {
  varchar: 'text',
  bigint: 'whole number: write digits alone, like 1200',
  double: 'number: write it with a point, like 1200.50',
  date: 'date: write YYYY-MM-DD, like 2026-01-31',
  boolean: 'boolean: write true or false',
}

function wrongValue(
  place: ProjectError['place'],
  column: string,
  value: string,
  type: SeedType,
): ProjectError {
  const [what = type, hint = ''] = EXPECTED[type].split(': ')
  return new ProjectError(place, `column '${column}': '${value}' is no ${what}`, {
    hint: `${hint.charAt(0).toUpperCase()}${hint.slice(1)}.`,
  })
}

/** Where the record stands, counted from 1 behind the header. */
async function placeOf({ csv }: Seed, record: number): Promise<{ file: string; line: number }> {
  const lines = await recordLines(csv)
  return { file: csv.place, line: lines[record] ?? 1 }
}

/** The line of the record at a byte, from 1; DuckDB counts the empty lines before it in. */
async function lineAt({ path }: SeedFile, position: number): Promise<number> {
  const bytes = await readFile(path)
  let start = position - 1
  while (bytes[start] === 0x0a || bytes[start] === 0x0d) start++
  return bytes
    .subarray(0, start)
    .toString('latin1')
    .split(/\r\n|\r|\n/).length
}

function count(fields: number): string {
  return fields === 1 ? '1 field' : `${fields} fields`
}

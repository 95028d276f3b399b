import { dirname, join, resolve, basename } from 'node:path'
import { AppError, UsageError } from '../lib/errors.ts'
import { listLiteral, type Database, type Table, type Value } from '../lib/duckdb.ts'
import { pastFolder } from '../lake/layout.ts'
import { TABLES_HINT } from './tables.ts'
import { openWarehouse, sqlMessage } from './warehouse.ts'
import { z } from 'zod'
import { readdirSync } from 'node:fs'
import { packageRoot, statement } from '../lib/package.ts'
import { cut, suggestion } from '../lib/text.ts'

/**
 * Answers one SQL statement from the published warehouse at `path`. The file
 * is opened read-only; the only other files that can be read are those of base, which
 * the views of `staging` and `intermediate` read. The statement is a SELECT, or an
 * EXPLAIN of one, so it can neither change nor leak anything. It ends when the signal aborts.
 *
 * @throws UsageError if there is no warehouse, if the text is not one
 * SELECT or EXPLAIN of one, and with DuckDB's message if the statement fails.
 */
export async function query(
  path: string,
  sql: string,
  signal?: AbortSignal,
): Promise<Table<Value>> {
  const dataFolder = resolve(dirname(path))
  const bases = [dataFolder, pastFolder(dataFolder)].map((folder) => join(folder, 'lake', 'base'))
  await using database = await openWarehouse(path, signal)
  await database.run(`set allowed_directories = ${listLiteral(bases)}`)
  await database.run('set enable_external_access = false')
  await database.run('set lock_configuration = true')
  const reading = await readingStatement(database, sql)
  return await database.exactTable(reading).catch((error: unknown) => {
    throw failureOf(error)
  })
}

/** An error of our own, such as that of a signal, stays unchanged. */
function failureOf(cause: unknown): AppError {
  if (cause instanceof AppError) return cause
  const message = sqlMessage(cause)
  if (!/disabled (by|through) configuration|enable external access/.test(message)) {
    return new UsageError(message, { hint: TABLES_HINT, cause })
  }
  return new UsageError(`the query may read the published warehouse only: ${message}`, {
    hint: 'To write files: `agent-warehouse export`. After the data folder was moved: `agent-warehouse build`.',
    cause,
  })
}

/**
 * Verifies by the engine's own parser that a query is exactly one SELECT, or an EXPLAIN of
 * one. Only the explained statement is taken from the text, because EXPLAIN ANALYZE
 * executes what follows it.
 *
 * @throws UsageError
 */
async function readingStatement(database: Database, sql: string): Promise<string> {
  const { explain, explained } = splitExplain(sql)
  const rows = await database.rows(statement('query/parsed'), [explained])
  const [{ problem, statements, functions }] = z.tuple([parsedRow]).parse(rows)
  if (problem !== null) {
    throw problem.startsWith('Only SELECT')
      ? notASelect(sql)
      : new UsageError(`Parser Error: ${problem}`, { hint: HINT })
  }
  if (statements !== 1) {
    const found = statements === 0 ? 'no statement' : `${statements} statements`
    throw new UsageError(`the query has ${found}, but must be one: '${excerpt(sql)}'`, {
      hint: HINT,
    })
  }
  const other = functions.find((name) => !READING.test(name))
  if (other !== undefined) {
    const elsewhere = `${other.toLowerCase()}() reads or changes something else`
    throw new UsageError(`the query may read the published warehouse only: ${elsewhere}`, {
      hint: TABLES_HINT,
    })
  }
  return `${explain}${explained}`
}

const HINT = 'For example: agent-warehouse query "select * from fct_org_day limit 10"'

/**
 * Table functions that read the database or make rows. Others read files or change
 * the engine: `enable_logging` makes files, `query` runs any text.
 */
const READING =
  /^(?:unnest|range|generate_series|repeat|repeat_row|json_each|json_tree|summary|histogram|histogram_values|query_table|icu_calendar_names|pg_timezone_names|(?:duckdb|pragma)_\w+)$/i

const parsedRow = z.object({
  problem: z.string().nullable(),
  statements: z.coerce.number(),
  functions: z.array(z.string()),
})

const BLANK = /(?:\s|--[^\n]*(?:\n|$))+/y
const EXPLAIN = /explain\b/iy
/** `analyze`, or options in parentheses: `(analyze, format json)`. */
const OPTIONS = /(?:analy[sz]e\b|verbose\b|\(\s*(?:analy[sz]e|verbose|format)\b[a-z_,\s]*\))/iy

function splitExplain(sql: string): { readonly explain: string; readonly explained: string } {
  const start = afterBlank(sql, 0)
  const word = matchAt(EXPLAIN, sql, start)
  if (word === '') return { explain: '', explained: sql }
  const at = afterBlank(sql, start + word.length)
  const options = matchAt(OPTIONS, sql, at)
  const explained = sql.slice(at + options.length)
  return { explain: `explain ${options} `, explained }
}

/** The index after white space and comments; comments in `/*` nest. */
function afterBlank(sql: string, at: number): number {
  let index = at
  for (;;) {
    const next = commentEnd(sql, index + matchAt(BLANK, sql, index).length)
    if (next === index) return index
    index = next
  }
}

function commentEnd(sql: string, at: number): number {
  let depth = 0
  let index = at
  while (index < sql.length) {
    if (sql.startsWith('/*', index)) depth += 1
    else if (depth === 0) return index
    else if (sql.startsWith('*/', index)) depth -= 1
    else index -= 1
    index += 2
  }
  return index
}

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? ''
}

function notASelect(sql: string): UsageError {
  return new UsageError(
    `the query may only read: '${excerpt(sql)}' is neither a SELECT nor an EXPLAIN of one`,
    {
      hint: /\bpivot\b/i.test(sql)
        ? 'DuckDB splits a PIVOT without its values into two statements. Name the values: `pivot t on x in (…)`.'
        : 'To write files: `agent-warehouse export`. To change the content of the warehouse: change the models and build.',
    },
  )
}

function excerpt(sql: string): string {
  return cut(sql.replaceAll(/\s+/g, ' ').trim(), 80)
}

/** A ready-made question, and the statement on the marts that answers it. */
type Analysis = Readonly<ReturnType<typeof analysisIn>>

/** The ready-made questions of `sql/analyses`, by name. */
export function listAnalyses(): Analysis[] {
  const files = readdirSync(join(packageRoot, 'sql', 'analyses')).sort()
  return files.map((file) => analysisIn(basename(file, '.sql')))
}

/** @throws UsageError for an unknown name, with the nearest one. */
export function analysis(name: string): Analysis {
  const all = listAnalyses()
  const found = all.find((each) => each.name === name)
  if (found !== undefined) return found
  const known = all.map((each) => each.name)
  const hint = `${suggestion(name, known, '')} \`agent-warehouse query --list\` lists them.`
  throw new UsageError(`there is no ready-made question '${name}'`, { hint: hint.trim() })
}

export function analysesTable(): Table<string> {
  const rows = listAnalyses().map(({ name, question }) => [name, question])
  return { columns: ['name', 'question'], types: ['VARCHAR', 'VARCHAR'], rows }
}

/** The question is the first line of its comment; the notes say what is counted and how, and when the result is empty. */
function analysisIn(name: string) {
  const sql = statement(`analyses/${name}`)
  const comment = /^(?:-- .*\n)+/.exec(sql)?.[0] ?? ''
  const [question = '', ...notes] = comment.trimEnd().replaceAll(/^-- /gm, '').split('\n')
  return { name, question, notes: notes.join(' '), sql }
}

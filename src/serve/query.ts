import { dirname, join, resolve } from 'node:path'
import { UsageError } from '../core/errors.ts'
import { listLiteral, type Database, type Table } from '../store/duckdb.ts'
import { pastFolder } from '../store/lake.ts'
import { openWarehouse, sqlMessage } from './warehouse.ts'

/** Comments and everything quoted: what a semicolon may stand in without ending a statement. */
const OPAQUE = [
  String.raw`--[^\n]*`,
  String.raw`/\*[\s\S]*?\*/`,
  String.raw`\be'(?:\\[\s\S]|''|[^'\\])*'`,
  String.raw`'(?:''|[^'])*'`,
  String.raw`"(?:""|[^"])*"`,
  String.raw`(?<tag>\$\w*\$)[\s\S]*?\k<tag>`,
].join('|')

/**
 * Answers one SQL statement from the published warehouse at `path`. The file
 * is opened read-only, and of other files only the base of the lake beside it
 * can be read, where the views of `staging` and `intermediate` look: a statement
 * can neither change nor leak anything.
 *
 * @throws UsageError when there is no warehouse, when the text is not one
 * statement, when the statement writes, and with DuckDB's message when it fails.
 */
export async function query(path: string, sql: string): Promise<Table> {
  requireOneStatement(sql)
  const database = await openWarehouse(path)
  const dataFolder = resolve(dirname(path))
  const bases = [dataFolder, pastFolder(dataFolder)].map((folder) => join(folder, 'lake', 'base'))
  try {
    await database.run(`set allowed_directories = ${listLiteral(bases)}`)
    await database.run('set enable_external_access = false')
    return await answer(database, sql)
  } finally {
    database.close()
  }
}

async function answer(database: Database, sql: string): Promise<Table> {
  try {
    return await database.table(sql)
  } catch (error) {
    throw failureOf(sqlMessage(error), error)
  }
}

function failureOf(message: string, cause: unknown): UsageError {
  if (message.includes('attached in read-only mode')) {
    return new UsageError(`the published warehouse is read-only: ${message}`, {
      hint: 'Ask with a select. To change what it holds, change the models and build again.',
      cause,
    })
  }
  if (/disabled (by|through) configuration|enable external access/.test(message)) {
    return onlyTheWarehouse(message, cause)
  }
  return new UsageError(message, {
    hint: '`show all tables` lists what can be asked, `describe <table>` its columns.',
    cause,
  })
}

function onlyTheWarehouse(message: string, cause?: unknown): UsageError {
  return new UsageError(`the query may read the published warehouse only: ${message}`, {
    hint: 'To write files: `agent-warehouse export`. After the data folder was moved: `agent-warehouse build`.',
    cause,
  })
}

/** The lake may be read, and so DuckDB would let these write there. */
const WRITES_FILES = /^\s*(explain\s+(analyze\s+)?)?(copy|export)\b/i

/** DuckDB would run every statement of the text and answer with one of them. */
function requireOneStatement(sql: string): void {
  const bare = sql.replaceAll(new RegExp(OPAQUE, 'gi'), (match) => (isComment(match) ? ' ' : 'x'))
  const statements = bare.split(';').filter((part) => part.trim() !== '')
  if (WRITES_FILES.test(bare)) throw onlyTheWarehouse(`'${excerpt(sql)}' writes files`)
  if (statements.length === 1) return
  const found = statements.length === 0 ? 'no statement' : `${statements.length} statements`
  throw new UsageError(`the query has ${found}, and must be one: '${excerpt(sql)}'`, {
    hint: 'For example: agent-warehouse query "select * from fct_org_day limit 10"',
  })
}

function isComment(match: string): boolean {
  return match.startsWith('--') || match.startsWith('/*')
}

function excerpt(sql: string): string {
  const line = sql.replaceAll(/\s+/g, ' ').trim()
  return line.length > 80 ? `${line.slice(0, 79)}…` : line
}

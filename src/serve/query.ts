import { dirname, join, resolve } from 'node:path'
import { UsageError } from '../lib/errors.ts'
import { listLiteral, type Database, type Table } from '../lib/duckdb.ts'
import { pastFolder } from '../lake/layout.ts'
import { readingStatement } from './statement.ts'
import { TABLES_HINT } from './tables.ts'
import { sqlMessage, withWarehouse } from './warehouse.ts'

/**
 * Answers one SQL statement from the published warehouse at `path`. The file
 * is opened read-only, and of other files only the base of the lake beside it
 * can be read, where the views of `staging` and `intermediate` look. The statement
 * is one SELECT, or an EXPLAIN of one: it can neither change nor leak anything.
 *
 * @throws UsageError when there is no warehouse, when the text is not one
 * SELECT or EXPLAIN of one, and with DuckDB's message when it fails.
 */
export async function query(path: string, sql: string): Promise<Table> {
  const dataFolder = resolve(dirname(path))
  const bases = [dataFolder, pastFolder(dataFolder)].map((folder) => join(folder, 'lake', 'base'))
  return withWarehouse(path, async (database) => {
    await database.run(`set allowed_directories = ${listLiteral(bases)}`)
    await database.run('set enable_external_access = false')
    await database.run('set lock_configuration = true')
    return answer(database, await readingStatement(database, sql))
  })
}

async function answer(database: Database, sql: string): Promise<Table> {
  try {
    return await database.table(sql)
  } catch (error) {
    throw failureOf(sqlMessage(error), error)
  }
}

function failureOf(message: string, cause: unknown): UsageError {
  if (!/disabled (by|through) configuration|enable external access/.test(message)) {
    return new UsageError(message, { hint: TABLES_HINT, cause })
  }
  return new UsageError(`the query may read the published warehouse only: ${message}`, {
    hint: 'To write files: `agent-warehouse export`. After the data folder was moved: `agent-warehouse build`.',
    cause,
  })
}

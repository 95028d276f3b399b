import { join } from 'node:path'
import { Database, type Table, type Value } from '../../src/lib/duckdb.ts'
import { temporaryFolder } from '../support/helpers.ts'

/** The answer of an in-memory DuckDB. */
export async function ask(sql: string): Promise<Table<Value>> {
  const database = await Database.open(':memory:')
  try {
    return await database.exactTable(sql)
  } finally {
    database.close()
  }
}

/** A warehouse file made by the statements, in a folder of its own. */
export async function warehouseOf(sql: string): Promise<{ folder: string; path: string }> {
  const folder = await temporaryFolder()
  const path = join(folder, 'warehouse.duckdb')
  await writeWarehouse(path, sql)
  return { folder, path }
}

export async function writeWarehouse(path: string, sql: string): Promise<void> {
  const database = await Database.open(path)
  try {
    await database.run(sql)
    await database.run('checkpoint')
  } finally {
    database.close()
  }
}

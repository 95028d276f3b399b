import { Database, literal } from './duckdb.ts'
import { statement } from './root.ts'
import { fill } from './template.ts'

/**
 * The rows of one version in the lake, as served, in order. In a database of
 * its own: one that met a damaged file may be unusable after it.
 *
 * @returns null for a file that cannot be read.
 */
export async function readItems(path: string): Promise<readonly string[] | null> {
  const database = await Database.open(':memory:', { memoryLimit: '128MB', threads: 1 })
  try {
    const rows = await database.rows(fill(statement('raw_items'), { file: literal(path) }))
    return rows.map(({ item }) => (typeof item === 'string' ? item : ''))
  } catch {
    return null
  } finally {
    database.close()
  }
}

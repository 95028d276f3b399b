import { join } from 'node:path'
import { loadProject, planBuild } from '../../src/model/index.ts'
import { Database, type Row } from '../../src/store/duckdb.ts'
import { packageRoot } from '../../src/store/root.ts'

/** The project of this repository. */
export const project = await loadProject(join(packageRoot, 'dbt-like-models'))

const models = planBuild(project)

/** The rows that a model makes of these relations alone, each a statement; by the order given. */
export async function rowsOf(
  name: string,
  relations: Readonly<Record<string, string>>,
  order = 'all',
): Promise<Row[]> {
  const database = await Database.open(':memory:')
  try {
    for (const schema of ['staging', 'intermediate', 'seeds']) {
      await database.run(`create schema ${schema}`)
    }
    for (const [relation, sql] of Object.entries(relations)) {
      await database.run(`create table ${relation} as ${sql}`)
    }
    const sql = models.find((node) => node.name === name)?.sql ?? ''
    return await database.rows(`select * from (${sql}) order by ${order}`)
  } finally {
    database.close()
  }
}

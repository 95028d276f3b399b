import { join } from 'node:path'
import { compileProject } from '../../src/model/project/compile.ts'
import { loadProject } from '../../src/model/project/project.ts'
import { Database, type Row } from '../../src/lib/duckdb.ts'
import { packageRoot } from '../../src/lib/package.ts'

/** The project of this repository. */
export const project = await loadProject(join(packageRoot, 'dbt-like-models'))

const { models, tests } = compileProject(project, { sourceSql: (_, table) => `platform.${table}` })

/** The rows that one model makes of the given relations, each a statement; in the given order. */
export async function rowsOf(
  name: string,
  relations: Readonly<Record<string, string>>,
  order = 'all',
): Promise<Row[]> {
  const sql = models.find((node) => node.name === name)?.sql ?? ''
  return asked(`select * from (${sql}) order by ${order}`, relations)
}

/** The rows that a singular test finds in the given relations. */
export async function failuresOf(
  name: string,
  relations: Readonly<Record<string, string>>,
): Promise<Row[]> {
  const test = tests.find((node) => node.name === name)
  return asked(test?.sql ?? '', relations)
}

async function asked(sql: string, relations: Readonly<Record<string, string>>): Promise<Row[]> {
  const database = await Database.open(':memory:')
  try {
    for (const schema of ['staging', 'intermediate', 'seeds']) {
      await database.run(`create schema ${schema}`)
    }
    for (const [relation, statement] of Object.entries(relations)) {
      await database.run(`create table ${relation} as ${statement}`)
    }
    return await database.rows(sql)
  } finally {
    database.close()
  }
}

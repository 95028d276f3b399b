import type { Database } from '../../lib/duckdb.ts'
import { compileProject, type CompileOptions } from '../project/compile.ts'
import { labelErrors } from '../project/errors.ts'
import { keyColumns } from '../project/properties.ts'
import { loadSeed } from '../project/seeds.ts'
import { lineageOf } from '../project/select.ts'
import type { ModelNode, Project } from '../project/types.ts'
import { createSchemas } from '../shared/relations.ts'

/**
 * Creates the facts of days, and the models that they are made from, as views in the database in
 * use, unchecked: nothing is computed until it is queried, and then only for the queried days.
 *
 * @returns the facts, each with its relation `schema.name`, its columns and its key.
 * @throws StatementError when DuckDB refuses a model.
 */
export async function createFactViews(
  database: Database,
  project: Project,
  sourceSql: CompileOptions['sourceSql'],
) {
  const { models } = compileProject(project, { sourceSql })
  const facts = models.filter(isFactOfDays)
  const names = facts.map(({ name }) => name)
  const needed = lineageOf(names, models)
  const views = models.filter(({ name }) => needed.has(name))
  await createSchemas(database, views)
  for (const { file, name, relation, sql, seed } of views) {
    if (seed !== null) await loadSeed(database, seed)
    await labelErrors(`${file}: model '${name}'`, () =>
      database.run(`create view ${relation} as ${sql}`),
    )
  }
  return facts.map((node) => ({
    name: node.name,
    relation: node.relation,
    columns: node.columns.map(({ name }) => name),
    key: keyColumns(node),
  }))
}

/** One fetch cannot verify it, because it is made from every landed version. */
const HISTORY_OF_VERSIONS = 'fct_restatement'

function isFactOfDays(node: ModelNode): boolean {
  const key = keyColumns(node)
  const isFact = node.name.startsWith('fct_') && node.name !== HISTORY_OF_VERSIONS
  return isFact && key.includes('org_id') && key.includes('activity_date')
}

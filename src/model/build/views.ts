import { identifier, type Database } from '../../lib/duckdb.ts'
import { keyOf } from '../project/properties.ts'
import { compileProject, type CompileOptions } from '../project/compile.ts'
import { StatementError } from '../project/errors.ts'
import type { ModelNode, Project } from '../project/types.ts'

/** A mart with facts of days, as a view. */
export interface FactView {
  readonly name: string
  /** `schema.name` */
  readonly relation: string
  readonly columns: readonly string[]
  /** The columns that together are unique; the organisation and the day are among them. */
  readonly key: readonly string[]
}

/**
 * Makes every model a view in the database in use, unchecked: nothing is
 * computed before it is asked for, and then only the days that are asked for.
 *
 * @returns the facts of days among them.
 * @throws StatementError when DuckDB refuses a model.
 */
export async function createFactViews(
  database: Database,
  project: Project,
  sourceSql: CompileOptions['sourceSql'],
): Promise<FactView[]> {
  const { models } = compileProject(project, { sourceSql })
  for (const schema of new Set(models.map((node) => node.schema))) {
    await database.run(`create schema if not exists ${identifier(schema)}`)
  }
  for (const node of models) await createView(database, node)
  return models.filter(isFactOfDays).map((node) => ({
    name: node.name,
    relation: node.relation,
    columns: node.columns.map(({ name }) => name),
    key: keyOf(node),
  }))
}

async function createView(database: Database, node: ModelNode): Promise<void> {
  try {
    await database.run(`create view ${node.relation} as ${node.sql}`)
  } catch (error) {
    throw StatementError.of(`${node.file}: model '${node.name}'`, error)
  }
}

/** What one fetch cannot give again: it is made from every version that landed. */
const HISTORY_OF_VERSIONS = 'fct_restatement'

function isFactOfDays(node: ModelNode): boolean {
  const key = keyOf(node)
  const isFact = node.name.startsWith('fct_') && node.name !== HISTORY_OF_VERSIONS
  return isFact && key.includes('org_id') && key.includes('activity_date')
}

import { compilePlan } from './compile.ts'
import { select } from './select.ts'
import type { ModelNode, Project } from './types.ts'

export { buildAndPublish, type BuildOptions, type BuildResult } from './publish.ts'
export type { BuiltModel } from './build.ts'
export { Copy } from './copy.ts'
export type { CheckResult, CheckStatus } from './checks.ts'
export { ProjectError, StatementError } from './errors.ts'
export { loadProject } from './project.ts'
export { seedLines } from './seed-table.ts'
export { createFactViews } from './views.ts'
export type { Column, GenericTest, ModelNode, Project } from './types.ts'

/**
 * The models that a build would make, in its order, without a database;
 * sources stand under their own names (`platform.users`).
 *
 * @throws ProjectError, and UsageError at a selector that means no model.
 */
export function planBuild(project: Project, selector?: string): readonly ModelNode[] {
  const { models } = compilePlan(project, { sourceSql: (source, table) => `${source}.${table}` })
  return selector === undefined ? models : select(models, selector)
}

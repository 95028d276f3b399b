import { compileProject } from './project/compile.ts'
import type { ModelNode, Project } from './project/types.ts'

export { buildAndPublish, planOfBuild, type BuildResult, type PlannedModel } from './build/build.ts'
export type { BuildOptions, SparkEngine } from './shared/context.ts'
export type { CheckResult } from './shared/checks.ts'
export { loadProject } from './project/project.ts'
export { loadMetrics } from './project/metrics.ts'
export { seedLines } from './project/seeds.ts'
export { createFactViews } from './engines/fact-views.ts'
export type { Column, ModelNode, Project } from './project/types.ts'

/**
 * Returns the models in build order without opening a database. Sources keep their own names
 * (`platform.users`).
 *
 * @throws ProjectError
 */
export function listModels(project: Project): readonly ModelNode[] {
  return compileProject(project, { sourceSql: (source, table) => `${source}.${table}` }).models
}

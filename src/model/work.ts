import { decideBasis, type Basis } from './basis.ts'
import { planChecks, type Check } from './checks.ts'
import { compilePlan, type CompileOptions } from './compile.ts'
import { select } from './graph.ts'
import { readHeld } from './held.ts'
import type { ModelNode, Project } from './types.ts'

export interface WorkOptions extends CompileOptions {
  readonly project: Project
  /** The published file. */
  readonly target: string
  /** Build these models only. */
  readonly select?: string
  /** Make incremental models anew whole. */
  readonly fullRefresh?: boolean
  /**
   * How a source's table is made, as text: a change makes the incremental
   * models that are made from it anew whole. Default: nothing is known of it.
   */
  readonly sourceMaking?: (source: string, table: string) => string
}

/** What a build has to do. */
export interface Work extends Basis {
  readonly all: readonly ModelNode[]
  readonly chosen: readonly ModelNode[]
  readonly checks: readonly Check[]
  /** The checks that are known to hold of all that stays as it is. */
  readonly known: ReadonlySet<Check>
}

/** @throws ProjectError, and UsageError at a selector that means no model. */
export async function planWork(options: WorkOptions): Promise<Work> {
  const plan = compilePlan(options.project, options)
  const chosen = options.select === undefined ? plan.models : select(plan.models, options.select)
  const checks = planChecks(plan, chosen)
  const held = await readHeld(options.target)
  const basis = decideBasis(plan.models, {
    chosen,
    held,
    isFullRefresh: options.fullRefresh === true,
    sourceMaking: options.sourceMaking ?? (() => ''),
  })
  const isKnown = ({ model, check, sql }: Check): boolean =>
    model !== null && basis.kept.has(model) && held.passed.get(check) === sql
  return { ...basis, all: plan.models, chosen, checks, known: new Set(checks.filter(isKnown)) }
}

/** The same work with nothing to build upon. */
export function anew(work: Work): Work {
  return { ...work, kept: new Set(), known: new Set() }
}

import { decideBasis, type Basis } from './basis.ts'
import { planChecks, type Check } from './checks.ts'
import { compilePlan, type CompileOptions, type Plan } from './compile.ts'
import { select } from './graph.ts'
import { readHeld } from './held.ts'
import type { ModelNode, Project, UnitTestNode } from './types.ts'
import { unitTestsDigest } from './unit-tests.ts'

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
  readonly plan: Plan
  readonly all: readonly ModelNode[]
  readonly chosen: readonly ModelNode[]
  readonly checks: readonly Check[]
  /** The checks that are known to hold of all that stays as it is. */
  readonly known: ReadonlySet<Check>
  /** Why the published file cannot be read; null where it can, or where there is none. */
  readonly problem: string | null
  /** Those of models that are not as they were, or that are tested otherwise. */
  readonly unitTests: readonly UnitTestNode[]
  /** Digests of all unit tests of a model, by its name. */
  readonly unitTestDigests: ReadonlyMap<string, string>
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
  const unitTestDigests = digestsOf(plan.unitTests)
  const isProven = (model: string): boolean => {
    const before = options.fullRefresh === true ? undefined : held.models.get(model)
    const isAsItWas = before?.whole === basis.madeBy.get(model)?.whole
    return (
      before?.isSameEngine === true && isAsItWas && before.unitTests === unitTestDigests.get(model)
    )
  }
  const names = new Set(chosen.map(({ name }) => name))
  return {
    ...basis,
    plan,
    all: plan.models,
    chosen,
    checks,
    known: new Set(checks.filter(isKnown)),
    problem: held.problem,
    unitTests: plan.unitTests.filter(({ model }) => names.has(model) && !isProven(model)),
    unitTestDigests,
  }
}

function digestsOf(tests: readonly UnitTestNode[]): Map<string, string> {
  const models = new Set(tests.map(({ model }) => model))
  const own = (model: string) => tests.filter((test) => test.model === model)
  return new Map([...models].map((model) => [model, unitTestsDigest(own(model))]))
}

/** The same work with nothing to build upon. */
export function anew(work: Work): Work {
  return { ...work, kept: new Set(), known: new Set() }
}

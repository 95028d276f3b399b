import { UsageError } from '../../lib/errors.ts'
import { readLastResults } from '../artifacts/last-results.ts'
import { decideBasis, type Basis } from './basis.ts'
import { planChecks, type Check, type KnownChecks } from '../checks/checks.ts'
import type { CompileOptions, Plan } from '../project/compile.ts'
import { select, type Past } from '../project/select.ts'
import type { Upon } from './published-state.ts'
import { EVERYTHING, type FailedFile } from './failed-build.ts'
import { madeBy, type SourceFacts } from '../project/fingerprint.ts'
import type { Held } from './held.ts'
import type { ModelNode, Project, UnitTestNode } from '../project/types.ts'
import { unitTestsDigest } from '../checks/unit-tests.ts'

export interface WorkOptions extends CompileOptions {
  readonly project: Project
  /** The published file. */
  readonly target: string
  /** Build these models only. */
  readonly select?: string
  /** Do not build these. */
  readonly exclude?: string
  /** Go on with the file that failed last: build only what it did not bring about. */
  readonly retry?: boolean
  /** Where a file that failed is left for a look and a retry. Default: it is removed. */
  readonly failedFile?: FailedFile
  /** Where to write dbt's artifacts, and what builds, e.g. `agent-warehouse 0.1.0`. */
  readonly artifacts?: { readonly folder: string; readonly builder: string }
  /** Make incremental models anew whole. */
  readonly fullRefresh?: boolean
  /**
   * How a source's table is made, as text: a change makes the incremental
   * models that are made from it anew whole. Default: nothing is known of it.
   */
  readonly sourceMaking?: SourceFacts['making']
  /** What is in a source's table, as a digest. Default: it is not known. */
  readonly sourceContent?: SourceFacts['content']
}

/** What a build has to do. */
export interface Work extends Basis, KnownChecks {
  readonly plan: Plan
  /** Whether what is not chosen stays as it is in that file. */
  readonly isPart: boolean
  readonly all: readonly ModelNode[]
  readonly chosen: readonly ModelNode[]
  readonly checks: readonly Check[]
  /** Those of models that are not as they were, or that are tested otherwise. */
  readonly unitTests: readonly UnitTestNode[]
  /** Digests of all unit tests of a model, by its name. */
  readonly unitTestDigests: ReadonlyMap<string, string>
}

/** @throws ProjectError, and UsageError at a selector that means no model. */
export async function planWork(
  options: WorkOptions,
  plan: Plan,
  { held, retryOf }: Upon,
): Promise<Work> {
  const { select: selector, exclude } = options
  const past = await pastOf(options, plan, held, retryOf)
  const chosen = select(plan.models, retryOf === undefined ? selector : RETRIED, exclude, past)
  const checks = planChecks(plan, chosen)
  const basis = decideBasis(plan.models, {
    chosen,
    held,
    isFullRefresh: options.fullRefresh === true,
    sourceFacts: factsOf(options),
  })
  const hasPassed = ({ model, check, sql }: Check): boolean =>
    model !== null && held.passed.get(check) === sql
  const isKnown = (check: Check): boolean =>
    hasPassed(check) && check.model !== null && basis.kept.has(check.model)
  const isSettled = (check: Check): boolean =>
    hasPassed(check) && check.reads.every((name) => basis.unchanged.has(name))
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
    isPart: isPartOf(options),
    all: plan.models,
    chosen,
    checks,
    known: new Set(checks.filter(isKnown)),
    settled: new Set(checks.filter(isSettled)),
    unitTests: plan.unitTests.filter(({ model }) => names.has(model) && !isProven(model)),
    unitTestDigests,
  }
}

/** Whether only some models are built, into a file that has the others. */
export function isPartOf({ select: selector, exclude, retry }: WorkOptions): boolean {
  return selector !== undefined || exclude !== undefined || retry === true
}

function factsOf({ sourceMaking, sourceContent }: WorkOptions): SourceFacts {
  return { making: sourceMaking ?? (() => ''), content: sourceContent ?? (() => null) }
}

/** What the failed build did not bring about, what was changed since, and what is made from it. */
const RETRIED = 'result:error+ result:fail+ result:skipped+ state:modified+'

/** @throws UsageError when the results of the build to be gone on with are not on record. */
async function pastOf(
  options: WorkOptions,
  plan: Plan,
  held: Held,
  retryOf: string | undefined,
): Promise<Past> {
  const { artifacts, select = '', exclude = '' } = options
  const all = new Set(plan.models.map(({ name }) => name))
  const made = madeBy(plan.models, all, held.models, factsOf(options))
  const isAsked = retryOf !== undefined || `${select} ${exclude}`.includes('result:')
  const last = isAsked && artifacts !== undefined ? await readLastResults(artifacts.folder) : null
  if (retryOf !== undefined && last?.runId !== retryOf) {
    const problem = `--retry: the results of run ${retryOf} are not on record any more`
    throw new UsageError(problem, EVERYTHING)
  }
  return {
    isNew: (model) => !held.models.has(model),
    isModified: (model) => held.models.get(model)?.own !== made.get(model)?.own,
    results: last?.byModel ?? null,
  }
}

function digestsOf(tests: readonly UnitTestNode[]): Map<string, string> {
  const models = new Set(tests.map(({ model }) => model))
  const own = (model: string) => tests.filter((test) => test.model === model)
  return new Map([...models].map((model) => [model, unitTestsDigest(own(model))]))
}

/** The same work with nothing to build upon. */
export function anew(work: Work): Work {
  const none = {
    kept: new Set<string>(),
    standing: new Set<string>(),
    unchanged: new Set<string>(),
  }
  return { ...work, ...none, known: new Set(), settled: new Set() }
}

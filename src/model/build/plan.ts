import { UsageError } from '../../lib/errors.ts'
import { readLastResults } from '../artifacts/last-results.ts'
import { planChecks, type Check, type ReusedChecks } from '../checks/checks.ts'
import { unitTestsDigest } from '../checks/unit-tests.ts'
import type { CompileOptions, Plan } from '../project/compile.ts'
import { madeBy, type MadeBy, type SourceFacts } from '../project/fingerprint.ts'
import { select, type Past } from '../project/select.ts'
import type { ModelNode, Project, UnitTestNode } from '../project/types.ts'
import type { BaseFile } from './base-file.ts'
import { EVERYTHING, type FailedFile } from './failed-build.ts'
import type { PublishedState } from './published-state.ts'

export interface PlanOptions extends CompileOptions {
  readonly project: Project
  /** The published file. */
  readonly target: string
  /** Build these models only. */
  readonly select?: string
  /** Do not build these. */
  readonly exclude?: string
  /** Continue with the file that failed last: build only what it does not have. */
  readonly retry?: boolean
  /** Where a file that failed is kept for inspection and a retry. Default: it is removed. */
  readonly failedFile?: FailedFile
  /** Where to write dbt's artifacts, and what builds, e.g. `agent-warehouse 0.1.0`. */
  readonly artifacts?: { readonly folder: string; readonly builder: string }
  /** Build incremental models from scratch. */
  readonly fullRefresh?: boolean
  /**
   * How a source's table is made, as text: a change builds the incremental
   * models that read it from scratch. Default: nothing is known of it.
   */
  readonly sourceMaking?: SourceFacts['making']
  /** What is in a source's table, as a digest. Default: it is not known. */
  readonly sourceContent?: SourceFacts['content']
}

/**
 * What a build does with a model, and why:
 * - `reuse`: its table or view stays as it is in the published file;
 * - `update`: only the changed intervals of its table are replaced;
 * - `create`: it is built from scratch.
 */
export interface NodePlan {
  readonly action: 'reuse' | 'update' | 'create'
  readonly reason: string
}

/** All that a build decides before it writes. */
export interface BuildPlan extends ReusedChecks {
  readonly compiled: Plan
  /** Whether the models that are not selected stay as they are in the published file. */
  readonly isPartial: boolean
  readonly all: readonly ModelNode[]
  readonly selected: readonly ModelNode[]
  /** Of each selected model, by its name. */
  readonly nodes: ReadonlyMap<string, NodePlan>
  /** Models whose rows are those of the published file. */
  readonly unchanged: ReadonlySet<string>
  readonly madeBy: ReadonlyMap<string, MadeBy>
  readonly checks: readonly Check[]
  /** Those of models that changed, or whose unit tests did. */
  readonly unitTests: readonly UnitTestNode[]
  /** Digests of all unit tests of a model, by its name. */
  readonly unitTestDigests: ReadonlyMap<string, string>
}

/** The reason of a model that the published file does not have. */
const NEW = 'it is new'

/** @throws ProjectError, and UsageError at a selector that matches no models. */
export async function planBuild(
  options: PlanOptions,
  compiled: Plan,
  { state, retryOf }: BaseFile,
): Promise<BuildPlan> {
  const { models } = compiled
  const history = await historyFor(options, compiled, state, retryOf)
  const selector = retryOf === undefined ? options.select : RETRY_SELECTOR
  const selected = select(models, selector, options.exclude, history)
  const names = new Set(selected.map(({ name }) => name))
  const made = madeBy(models, names, state.models, sourceFacts(options))
  const isFullRefresh = options.fullRefresh === true
  const nodes = new Map<string, NodePlan>()
  const unchanged = new Set<string>()
  for (const node of selected) {
    const reason = isFullRefresh ? 'asked for' : reasonToCreate(node, models, state, made)
    const content = made.get(node.name)?.content ?? null
    const hasSameRows = content !== null && content === state.models.get(node.name)?.content
    if (reason === null && hasSameRows) unchanged.add(node.name)
    nodes.set(node.name, planNode(node, reason, hasSameRows))
  }
  const checks = planChecks(compiled, selected)
  const hasPassed = ({ model, check, sql }: Check): boolean =>
    model !== null && state.passed.get(check) === sql
  const isOnChangedRows = ({ model }: Check): boolean =>
    selected.some(({ name, increment }) => name === model && increment !== null) &&
    nodes.get(model ?? '')?.action !== 'create'
  const unitTestDigests = digestsOf(compiled.unitTests)
  const isTested = (model: string): boolean => {
    const before = isFullRefresh ? undefined : state.models.get(model)
    return (
      before?.isSameEngine === true &&
      before.whole === made.get(model)?.whole &&
      before.unitTests === unitTestDigests.get(model)
    )
  }
  return {
    compiled,
    isPartial: isPartial(options),
    all: models,
    selected,
    nodes,
    unchanged,
    madeBy: made,
    checks,
    onChangedRows: new Set(checks.filter((check) => hasPassed(check) && isOnChangedRows(check))),
    alreadyPassed: new Set(
      checks.filter(
        (check) => hasPassed(check) && check.reads.every((name) => unchanged.has(name)),
      ),
    ),
    unitTests: compiled.unitTests.filter(({ model }) => names.has(model) && !isTested(model)),
    unitTestDigests,
  }
}

/** Incremental models that the published file has and that are built from scratch, and why. */
export function refreshed({ selected, nodes }: BuildPlan): [model: string, reason: string][] {
  return selected.flatMap(({ name, increment }) => {
    const { action, reason } = nodes.get(name) ?? { action: 'reuse', reason: '' }
    const isRefreshed = increment !== null && action === 'create' && reason !== NEW
    return isRefreshed ? [[name, reason]] : []
  })
}

/** Whether a table of the published file is updated or reused: then the build continues in a copy of it. */
export function continuesFromFile({ selected, nodes }: BuildPlan): boolean {
  return selected.some(
    ({ name, increment }) => increment !== null && nodes.get(name)?.action !== 'create',
  )
}

/** The same plan where the published file cannot be used after all. */
export function fromScratch(plan: BuildPlan): BuildPlan {
  const create: NodePlan = { action: 'create', reason: 'the published file is damaged' }
  return {
    ...plan,
    nodes: new Map(plan.selected.map(({ name }) => [name, create])),
    unchanged: new Set(),
    onChangedRows: new Set(),
    alreadyPassed: new Set(),
  }
}

/** Whether only some models are built, into a file that has the others. */
export function isPartial({ select: selector, exclude, retry }: PlanOptions): boolean {
  return selector !== undefined || exclude !== undefined || retry === true
}

/** `reason`: why the model has to be built from scratch; null where it was made by the same. */
function planNode(node: ModelNode, reason: string | null, hasSameRows: boolean): NodePlan {
  if (reason !== null) return { action: 'create', reason }
  if (hasSameRows) return { action: 'reuse', reason: 'the same rows' }
  if (node.materialized === 'view') return { action: 'reuse', reason: 'the same statement' }
  const reads = 'what it reads may have changed'
  return { action: node.increment === null ? 'create' : 'update', reason: reads }
}

/** Why the relation in the published file is not what would be made now; null where it is. */
function reasonToCreate(
  node: ModelNode,
  models: readonly ModelNode[],
  { models: published, problem }: PublishedState,
  now: ReadonlyMap<string, MadeBy>,
): string | null {
  const before = published.get(node.name)
  if (before === undefined) return problem ?? NEW
  if (!before.isSameEngine) return `it was made with ${before.engine}`
  if (before.whole === now.get(node.name)?.whole) return null
  const isChanged = (name: string): boolean => published.get(name)?.own !== now.get(name)?.own
  return `changed since: ${lineage(node, models).filter(isChanged).join(', ')}`
}

/** The model and all that it is made from, in the order given. */
function lineage(node: ModelNode, models: readonly ModelNode[]): string[] {
  const byName = new Map(models.map((model) => [model.name, model]))
  const reached = new Set([node.name])
  for (const name of reached) {
    for (const parent of byName.get(name)?.dependsOn ?? []) reached.add(parent)
  }
  return models.map(({ name }) => name).filter((name) => reached.has(name))
}

function sourceFacts({ sourceMaking, sourceContent }: PlanOptions): SourceFacts {
  return { making: sourceMaking ?? (() => ''), content: sourceContent ?? (() => null) }
}

/** What the failed build did not build, what was changed since, and what reads it. */
const RETRY_SELECTOR = 'result:error+ result:fail+ result:skipped+ state:modified+'

/** @throws UsageError when the results of the build that is retried are not on record. */
async function historyFor(
  options: PlanOptions,
  { models }: Plan,
  state: PublishedState,
  retryOf: string | undefined,
): Promise<Past> {
  const { artifacts, select = '', exclude = '' } = options
  const all = new Set(models.map(({ name }) => name))
  const made = madeBy(models, all, state.models, sourceFacts(options))
  const isAsked = retryOf !== undefined || `${select} ${exclude}`.includes('result:')
  const last = isAsked && artifacts !== undefined ? await readLastResults(artifacts.folder) : null
  if (retryOf !== undefined && last?.runId !== retryOf) {
    const problem = `--retry: the results of run ${retryOf} are not on record any more`
    throw new UsageError(problem, EVERYTHING)
  }
  return {
    isNew: (model) => !state.models.has(model),
    isModified: (model) => state.models.get(model)?.own !== made.get(model)?.own,
    results: last?.byModel ?? null,
  }
}

function digestsOf(tests: readonly UnitTestNode[]): Map<string, string> {
  const models = new Set(tests.map(({ model }) => model))
  const own = (model: string) => tests.filter((test) => test.model === model)
  return new Map([...models].map((model) => [model, unitTestsDigest(own(model))]))
}

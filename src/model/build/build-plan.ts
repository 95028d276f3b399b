import { grouped } from '../../lib/grouped.ts'
import { readLastResults } from '../artifacts/write.ts'
import { checksOf, failuresTable, type Check, type PlannedCheck } from '../shared/checks.ts'
import { unitTestsDigest } from '../checks/unit-tests.ts'
import type { Compiled } from '../project/compile.ts'
import { inputDigests, type InputDigests } from '../shared/fingerprint.ts'
import { lineageOf, select, type SelectionState } from '../project/select.ts'
import { kindOf, type ModelNode } from '../project/types.ts'
import type { PreviousWarehouse } from './previous-warehouse.ts'
import { isPartial, type BuildOptions, type BuildPlan, type NodePlan } from '../shared/context.ts'
import { descriptionOf } from '../shared/relations.ts'
import type { PublishedState } from '../shared/meta.ts'

const NEW = 'it is new'
const MOVED = 'the data folder has moved'

/** @throws ProjectError, and UsageError for a selector that matches no models. */
export async function planBuild(
  options: BuildOptions,
  compiled: Compiled,
  { state }: PreviousWarehouse,
): Promise<BuildPlan> {
  const { fullRefresh, exclude, retry } = options
  const { models } = compiled
  const everyName = new Set(models.map(({ name }) => name))
  const current = inputDigests(models, everyName, state.models, options)
  const selection = await selectionState(options, compiled, state, current)
  const selected = select(models, retry ? RETRY_SELECTOR : options.select, exclude, selection)
  const names = new Set(selected.map(({ name }) => name))
  const digests = inputDigests(models, names, state.models, options)
  const hasSameRows = ({ name }: ModelNode): boolean => {
    const content = digests.get(name)?.content ?? null
    return content !== null && content === state.models.get(name)?.content
  }
  const planned = selected.map((node) => {
    const reason = fullRefresh ? '--full-refresh' : reasonToCreate(node, models, state, digests)
    return planNode(node, state, reason, hasSameRows(node))
  })
  const written = new Set(
    planned.flatMap(({ node, action }) => (action === 'reuse' ? [] : node.hookRefs)),
  )
  const nodes = planned.map((each) => (written.has(each.node.name) ? toBeWritten(each) : each))
  const tests = grouped(compiled.unitTests, ({ model }) => model)
  const unitTestDigests = new Map(
    [...tests].map(([model, own]) => [model, unitTestsDigest(own)] as const),
  )
  const isTested = (model: string): boolean => {
    const before = fullRefresh ? undefined : state.models.get(model)
    return (
      before?.isSameEngine === true &&
      before.withAncestors === digests.get(model)?.withAncestors &&
      before.unitTests === unitTestDigests.get(model)
    )
  }
  const unchanged = new Set(nodes.flatMap((each) => (each.hasSameRows ? [each.node.name] : [])))
  const isContinued = nodes.some(
    ({ node, action }) => node.increment !== null && action !== 'create',
  )
  const isInNewFile = !isPartial(options) && !isContinued
  const relationOf = new Map(models.map(({ name, relation }) => [name, relation]))
  // a model that is not selected may never have been built
  const isThere = (name: string): boolean =>
    names.has(name) || state.relations.has(relationOf.get(name) ?? name)
  const kept: PublishedState = isInNewFile ? { ...state, relations: new Map() } : state
  return {
    compiled,
    isInNewFile,
    relations: kept.relations,
    nodes: isInNewFile ? nodes.map(inNewFile) : nodes,
    movedViews: models.filter((node) => !names.has(node.name) && hasMoved(node, state, current)),
    inputDigests: digests,
    checks: checksOf(compiled, selected)
      .filter(({ reads }) => reads.every(isThere))
      .map((check) => ({ ...check, scope: scopeOf(check, nodes, unchanged, kept) })),
    unitTests: compiled.unitTests.filter(({ model }) => names.has(model) && !isTested(model)),
    unitTestDigests,
  }
}

/** Incremental models of the published file that are built from scratch, each with the reason. */
export function refreshed({ nodes }: BuildPlan): [model: string, reason: string][] {
  return nodes.flatMap(({ node, action, reason }) => {
    const isRefreshed = node.increment !== null && action === 'create' && reason !== NEW
    return isRefreshed ? [[node.name, reason]] : []
  })
}

/** The same plan for a file without tables and views. */
function inNewFile({ node, action, reason }: NodePlan): NodePlan {
  return toCreate(node, action === 'create' ? reason : 'every table is built in a new file')
}

/**
 * `reason`: why the model must be built from scratch; null if the published one has the same
 * inputs.
 */
function planNode(
  node: ModelNode,
  { relations }: PublishedState,
  reason: string | null,
  hasSameRows: boolean,
): NodePlan {
  const present = relations.get(node.relation)
  if (reason !== null) {
    return { ...toCreate(node, reason), hasSameRows: reason === MOVED && hasSameRows }
  }
  if (present?.kind !== kindOf(node)) return toCreate(node, 'it is missing from the published file')
  const isDescribed = present.description === descriptionOf(node)
  const planned = { node, isDescribed, hasSameRows }
  if (hasSameRows) return { ...planned, action: 'reuse', reason: 'the same rows' }
  if (kindOf(node) === 'view') return { ...planned, action: 'reuse', reason: 'the same statement' }
  const reads = node.hasOtherInput
    ? 'it may ask for the time, chance, files or schema meta'
    : 'a model that it reads may have changed'
  if (node.increment === null) return toCreate(node, reads)
  return { ...planned, action: 'update', reason: reads }
}

function toCreate(node: ModelNode, reason: string): NodePlan {
  return { node, action: 'create', reason, isDescribed: false, hasSameRows: false }
}

/** The plan of a model to which a pre-hook of another model may write. */
function toBeWritten(planned: NodePlan): NodePlan {
  if (planned.action !== 'reuse' || !planned.hasSameRows) return planned
  const reason = 'unchanged, but a pre-hook of another model may write to it'
  return { ...planned, reason, hasSameRows: false }
}

/** The scope of a check. `unchanged`: the models whose rows are the published ones. */
function scopeOf(
  check: Check,
  nodes: readonly NodePlan[],
  unchanged: ReadonlySet<string>,
  { checks, relations }: PublishedState,
): PlannedCheck['scope'] {
  const { model, sql, changedSql, reads } = check
  const before = checks.get(check.check)
  const hasPassed = before?.status === 'pass' && before.failures === 0 && before.query === sql
  if (!check.readsOnlyModels || !hasPassed) return 'all'
  if (reads.every((name) => unchanged.has(name))) {
    return check.store_failures && !relations.has(failuresTable(check)) ? 'all' : 'none'
  }
  if (model === null || changedSql === undefined) return 'all'
  if (unchanged.has(model)) return 'removed values'
  return nodes.some(({ node, action }) => node.name === model && action === 'update')
    ? 'changed'
    : 'all'
}

/** Why the published relation differs from what the build would make; null if it does not. */
function reasonToCreate(
  node: ModelNode,
  models: readonly ModelNode[],
  state: PublishedState,
  current: ReadonlyMap<string, InputDigests>,
): string | null {
  const { models: published, problem } = state
  const before = published.get(node.name)
  if (before === undefined) return problem ?? NEW
  if (!before.isSameEngine) return `it was built with ${before.engine}`
  if (before.withAncestors === current.get(node.name)?.withAncestors) {
    return hasMoved(node, state, current) ? MOVED : null
  }
  const isChanged = (name: string): boolean => published.get(name)?.own !== current.get(name)?.own
  const lineage = lineageOf([node.name], models)
  const names = models.map(({ name }) => name)
  const changed = names.filter((name) => lineage.has(name) && isChanged(name))
  return changed.length === 0
    ? 'its record is of an earlier release, or a model that it reads was built without it'
    : `changed since: ${changed.join(', ')}`
}

/** Whether a view differs from the published one only in the folder of its sources. */
function hasMoved(
  node: ModelNode,
  { models: published }: PublishedState,
  current: ReadonlyMap<string, InputDigests>,
): boolean {
  const [before, now] = [published.get(node.name), current.get(node.name)]
  const isSame = before !== undefined && before.withAncestors === now?.withAncestors
  return kindOf(node) === 'view' && isSame && before.own !== now.own
}

/** The models that the failed build did not build, and those that changed since, are modified. */
const RETRY_SELECTOR = 'result:fail+ state:modified+'

async function selectionState(
  options: BuildOptions,
  compiled: Compiled,
  state: PublishedState,
  current: ReadonlyMap<string, InputDigests>,
): Promise<SelectionState> {
  const { artifacts, select = '', exclude = '', retry } = options
  const isAsked = artifacts !== undefined && `${select} ${exclude}`.includes('result:')
  const results = isAsked ? await readLastResults(artifacts.folder) : null
  return {
    isNew: (model) => !state.models.has(model),
    isModified: (model) => state.models.get(model)?.own !== current.get(model)?.own,
    results: retry ? failedIn(state, compiled) : results,
  }
}

/**
 * The results of the models whose checks failed in the file of the failed build, or have no result
 * there, because DuckDB refused them or a model was missing. The project may no longer have a check
 * that failed.
 */
function failedIn({ checks }: PublishedState, compiled: Compiled): SelectionState['results'] {
  const hasFailed = (check: string): boolean => (checks.get(check)?.status ?? 'fail') === 'fail'
  const recorded = [...checks.values()].filter(({ status }) => status === 'fail')
  const failed = checksOf(compiled, compiled.models).filter(({ check }) => hasFailed(check))
  const models = [
    ...recorded.flatMap(({ model }) => model ?? []),
    ...failed.flatMap(({ model, reads }) => model ?? reads),
  ]
  return new Map(models.map((name) => [name, new Set(['fail'])]))
}

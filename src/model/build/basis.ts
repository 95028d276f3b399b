import { madeBy, type MadeBy, type SourceFacts } from '../project/fingerprint.ts'
import type { Held } from './held.ts'
import type { ModelNode } from '../project/types.ts'

/** What a build makes anew, and what it builds upon. */
export interface Basis {
  /** Incremental models whose tables in the published file are brought up to date. */
  readonly kept: ReadonlySet<string>
  /** Views and tables of the published file that are what they would be made now. */
  readonly standing: ReadonlySet<string>
  /** Models whose rows are those of the published file. */
  readonly unchanged: ReadonlySet<string>
  /** Incremental models that are made anew whole although there is a published file, and why. */
  readonly refreshed: ReadonlyMap<string, string>
  readonly madeBy: ReadonlyMap<string, MadeBy>
}

export interface BasisOptions {
  readonly chosen: readonly ModelNode[]
  readonly held: Held
  readonly isFullRefresh: boolean
  readonly sourceFacts: SourceFacts
}

/**
 * An incremental model is brought up to date when its table was made by all
 * that would make it now; whatever changed, it is made anew whole. A view that was
 * made so stands as it is, and so does a table that was made so of the same rows.
 */
export function decideBasis(models: readonly ModelNode[], options: BasisOptions): Basis {
  const { chosen, held } = options
  const names = new Set(chosen.map(({ name }) => name))
  const made = madeBy(models, names, held.models, options.sourceFacts)
  const kept = new Set<string>()
  const standing = new Set<string>()
  const unchanged = new Set<string>()
  const refreshed = new Map<string, string>()
  for (const node of chosen) {
    const { name, materialized } = node
    const reason = options.isFullRefresh ? 'asked for' : changeOf(node, models, held, made)
    const content = made.get(name)?.content ?? null
    const isSame = reason === undefined && content !== null
    if (isSame && content === held.models.get(name)?.content) unchanged.add(name)
    if (unchanged.has(name) || (materialized === 'view' && reason === undefined)) standing.add(name)
    if (node.increment === null) continue
    if (reason === undefined) kept.add(name)
    else if (reason !== null) refreshed.set(name, reason)
  }
  return { kept, standing, unchanged, refreshed, madeBy: made }
}

/** Why the table cannot be built upon: null where there is none yet, undefined where it can. */
function changeOf(
  node: ModelNode,
  models: readonly ModelNode[],
  { models: held, problem }: Held,
  now: ReadonlyMap<string, MadeBy>,
): string | null | undefined {
  const before = held.get(node.name)
  if (before === undefined) return problem
  if (!before.isSameEngine) return `it was made with ${before.engine}`
  if (before.whole === now.get(node.name)?.whole) return undefined
  const changed = lineage(node, models).filter((name) => held.get(name)?.own !== now.get(name)?.own)
  return `changed since: ${changed.join(', ')}`
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

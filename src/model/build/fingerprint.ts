import { createHash } from 'node:crypto'
import type { ModelNode } from '../project/types.ts'

/** Digests of what a model was made from. */
export interface MadeBy {
  /** Digest of its own part: its SQL, its settings, its columns, and how its sources are made. */
  readonly own: string
  /** Digest of its own part and those of all models that it is made from. */
  readonly whole: string
  /**
   * Digest of that and of the sources' contents: equal digests mean equal rows, except those that
   * pre-hooks of other models write. Null if unknown, and for a model that is made from an earlier state of itself.
   */
  readonly content: string | null
}

/** What is known of the sources' tables. */
export interface SourceFacts {
  /** How the table is made, as text. */
  readonly making: (source: string, table: string) => string
  /** Digest of what is in it; null where that is not known. */
  readonly content: (source: string, table: string) => string | null
}

/**
 * Computes the digests of each model. A model that is not `chosen` stays as an earlier build
 * made it, so its digests come from `published`; if they are unknown, the models that read it
 * match no model that was ever made.
 */
export function madeBy(
  models: readonly ModelNode[],
  chosen: ReadonlySet<string>,
  published: ReadonlyMap<string, MadeBy>,
  facts: SourceFacts,
): Map<string, MadeBy> {
  const found = new Map<string, MadeBy>()
  for (const node of models) {
    const own = ownDigest(node, facts)
    const parents = node.dependsOn.map((name) => found.get(name) ?? UNKNOWN)
    const whole = digest([own, ...parents.map((parent) => parent.whole)])
    const made = chosen.has(node.name)
      ? { own, whole, content: contentOf(node, whole, parents, facts) }
      : (published.get(node.name) ?? UNKNOWN)
    found.set(node.name, made)
  }
  return found
}

const UNKNOWN: MadeBy = { own: '', whole: '', content: null }

function contentOf(
  node: ModelNode,
  whole: string,
  parents: readonly MadeBy[],
  facts: SourceFacts,
): string | null {
  const inputs = [
    ...parents.map(({ content }) => content),
    ...node.sources.map((source) => facts.content(...partsOf(source))),
  ]
  if (node.snapshot !== null || inputs.some((input) => input === null)) return null
  return digest([whole, ...inputs.map((input) => input ?? '')])
}

function partsOf(source: string): [source: string, table: string] {
  const [name = '', table = ''] = source.split('.')
  return [name, table]
}

function ownDigest(node: ModelNode, facts: SourceFacts): string {
  const { materialized, relation, unique_key, preHooks, sql, increment, columns, sources } = node
  const csv = node.seed?.csv.digest
  return digest([
    JSON.stringify([materialized, relation, unique_key, preHooks, sql, increment]),
    ...columns.map(({ name }) => name),
    ...(csv === undefined ? [] : [csv]),
    ...sources.map((source) => facts.making(...partsOf(source))),
  ])
}

/** Of parts in order. */
export function digest(parts: readonly string[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${part.length} ${part}`)
  return hash.digest('hex')
}

import { createHash } from 'node:crypto'
import type { ModelNode } from './types.ts'

/** By what a model was made. */
export interface MadeBy {
  /** Digest of its own part: its SQL, its settings, its columns, and how its sources are made. */
  readonly own: string
  /** Digest of its own part and those of all models that it is made from. */
  readonly whole: string
}

/** How a source's table is made, as text. */
export type SourceMaking = (source: string, table: string) => string

/**
 * By what each model is made. A model that is not `chosen` stays as an earlier
 * build made it, so `held` answers for it; where that is not known, the models
 * that read it are like no model that was ever made.
 */
export function madeBy(
  models: readonly ModelNode[],
  chosen: ReadonlySet<string>,
  held: ReadonlyMap<string, MadeBy>,
  sourceMaking: SourceMaking,
): Map<string, MadeBy> {
  const found = new Map<string, MadeBy>()
  for (const node of models) {
    const own = ownDigest(node, sourceMaking)
    const parents = node.dependsOn.map((name) => found.get(name)?.whole ?? '')
    const made = chosen.has(node.name)
      ? { own, whole: digest([own, ...parents]) }
      : (held.get(node.name) ?? { own: '', whole: '' })
    found.set(node.name, made)
  }
  return found
}

function ownDigest(node: ModelNode, sourceMaking: SourceMaking): string {
  const { materialized, relation, unique_key, preHooks, sql, increment, columns, sources } = node
  const csv = node.seed?.csv.digest
  return digest([
    JSON.stringify([materialized, relation, unique_key, preHooks, sql, increment]),
    ...columns.map(({ name }) => name),
    ...(materialized === 'view' ? commentsOf(node) : []),
    ...(csv === undefined ? [] : [csv]),
    ...sources.map((source) => {
      const [name = '', table = ''] = source.split('.')
      return sourceMaking(name, table)
    }),
  ])
}

/** A view that stands keeps its comments too. */
function commentsOf({ description, columns }: ModelNode): string[] {
  return [description, ...columns.map((column) => column.description)]
}

function digest(parts: readonly string[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${part.length} ${part}`)
  return hash.digest('hex')
}

import { createHash } from 'node:crypto'
import type { ModelNode } from '../project/types.ts'

/**
 * Digests of a model's inputs. `meta.models` records them as `made_by`, `fingerprint` and `content`.
 */
export interface InputDigests {
  /**
   * Digest of the model itself: its SQL, settings, columns, and the statements of its sources. A view
   * names its sources by their paths, so it has another digest once the data folder has moved.
   */
  readonly own: string
  /** Digest of the model itself and of all models that it depends on, wherever the data folder is. */
  readonly withAncestors: string
  /**
   * Digest of these and of the sources' contents: equal digests mean equal rows, except for rows that
   * pre-hooks of other models write. Null if unknown, for a model that depends on its own earlier
   * state, and for one that asks for more than models and sources, such as the time.
   */
  readonly content: string | null
}

export interface SourceFacts {
  /**
   * Identifies the statements that make the table: a change builds the incremental models that
   * read it from scratch.
   */
  readonly sourceStatements: (source: string, table: string) => string
  /** The path of the folder that holds the sources and can be moved; null: they cannot. */
  readonly movableFolder: string | null
  /** Digest of the content; null if unknown. */
  readonly sourceContent: (source: string, table: string) => string | null
}

/**
 * Computes the digests of each model. A model that is not `chosen` stays as an earlier build made
 * it, so its digests come from `published`. If they are unknown, the models that read it are built
 * again.
 */
export function inputDigests(
  models: readonly ModelNode[],
  chosen: ReadonlySet<string>,
  published: ReadonlyMap<string, InputDigests>,
  facts: SourceFacts,
): Map<string, InputDigests> {
  const found = new Map<string, InputDigests>()
  for (const node of models) {
    const parts = ownParts(node, facts)
    const own = digest(parts)
    const parents = node.dependsOn.map((name) => found.get(name) ?? UNKNOWN)
    const anywhere = digest(parts.map((part) => withoutFolder(part, facts.movableFolder)))
    const withAncestors = digest([anywhere, ...parents.map((parent) => parent.withAncestors)])
    const made = chosen.has(node.name)
      ? { own, withAncestors, content: contentOf(node, withAncestors, parents, facts) }
      : (published.get(node.name) ?? UNKNOWN)
    found.set(node.name, made)
  }
  return found
}

const UNKNOWN: InputDigests = { own: '', withAncestors: '', content: null }

function contentOf(
  node: ModelNode,
  withAncestors: string,
  parents: readonly InputDigests[],
  facts: SourceFacts,
): string | null {
  const inputs = [
    ...parents.map(({ content }) => content),
    ...node.sources.map((source) => facts.sourceContent(...partsOf(source))),
  ]
  if (node.snapshot !== null || node.hasOtherInput) return null
  if (inputs.some((input) => input === null)) return null
  return digest([withAncestors, ...inputs.map((input) => input ?? '')])
}

function partsOf(source: string): [source: string, table: string] {
  const [name = '', table = ''] = source.split('.')
  return [name, table]
}

function ownParts(node: ModelNode, facts: SourceFacts): string[] {
  const { materialized, relation, unique_key, preHooks, sql, increment, columns, sources } = node
  const csv = node.seed?.csv.digest
  const rule = node.snapshot
  return [
    JSON.stringify([materialized, relation, unique_key, preHooks, sql, increment]),
    ...columns.map(({ name }) => name),
    ...(csv === undefined ? [] : [csv]),
    ...(rule === null ? [] : [JSON.stringify(rule)]),
    ...sources.map((source) => facts.sourceStatements(...partsOf(source))),
  ]
}

/**
 * Replaces the folder at the beginning of SQL's texts. A path that SQL or JSON escapes stays: then
 * nothing is reused.
 */
function withoutFolder(text: string, folder: string | null): string {
  return folder === null ? text : text.replaceAll(`'${folder}/`, "'\0/")
}

export function digest(parts: readonly string[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${part.length} ${part}`)
  return hash.digest('hex')
}

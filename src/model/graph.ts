import { UsageError } from '../core/errors.ts'
import { ProjectError } from './errors.ts'
import { suggestion } from './nearest.ts'

export interface Dependent {
  readonly name: string
  readonly file: string
  readonly dependsOn: readonly string[]
}

export interface Selectable extends Dependent {
  readonly tags: readonly string[]
}

/**
 * The nodes with every one behind those it depends on, else in the order given.
 * Names that are no node are passed over.
 *
 * @throws ProjectError that prints the cycle when there is one.
 */
export function inOrder<T extends Dependent>(nodes: readonly T[]): T[] {
  const byName = new Map(nodes.map((node) => [node.name, node]))
  const ordered = new Set<T>()
  const visit = (node: T, trail: readonly string[]): void => {
    if (ordered.has(node)) return
    if (trail.includes(node.name)) throw cycleError(node, trail)
    for (const name of node.dependsOn) {
      const parent = byName.get(name)
      if (parent !== undefined) visit(parent, [...trail, node.name])
    }
    ordered.add(node)
  }
  for (const node of nodes) visit(node, [])
  return [...ordered]
}

function cycleError(node: Dependent, trail: readonly string[]): ProjectError {
  const cycle = [...trail.slice(trail.indexOf(node.name)), node.name]
  return new ProjectError({ file: node.file }, `models go in a circle: ${cycle.join(' -> ')}`, {
    hint: 'Take one of these references out.',
  })
}

/**
 * The nodes that a selector means, in the order given. A selector is a list of
 * terms parted by spaces: a model's name, `tag:x` or `path:x`; a `+` in front
 * adds all that the model is made from, a `+` behind all that is made from it.
 *
 * @throws UsageError at a term that means no node.
 */
export function select<T extends Selectable>(nodes: readonly T[], selector: string): T[] {
  const terms = selector.split(/\s+/).filter((term) => term !== '')
  if (terms.length === 0) throw new UsageError('--select: the selector is empty')
  const chosen = new Set(terms.flatMap((term) => [...selectTerm(nodes, term)]))
  return nodes.filter((node) => chosen.has(node.name))
}

function selectTerm(nodes: readonly Selectable[], term: string): Set<string> {
  const [, before = '', core = '', after = ''] = /^(\+?)(.*?)(\+?)$/.exec(term) ?? []
  const matched = nodes.filter((node) => matches(node, core)).map((node) => node.name)
  if (matched.length === 0) throw noMatch(nodes, term, core)
  const parents = new Map(nodes.map((node) => [node.name, node.dependsOn]))
  return new Set([
    ...matched,
    ...(before === '+' ? reach(matched, parents) : []),
    ...(after === '+' ? reach(matched, childrenOf(nodes)) : []),
  ])
}

function matches(node: Selectable, core: string): boolean {
  if (core.startsWith('tag:')) return node.tags.includes(core.slice('tag:'.length))
  if (core.startsWith('path:')) {
    const path = core.slice('path:'.length).replace(/\/$/, '')
    return node.file === path || node.file.startsWith(`${path}/`)
  }
  return node.name === core
}

function noMatch(nodes: readonly Selectable[], term: string, core: string): UsageError {
  const known = core.startsWith('tag:')
    ? nodes.flatMap((node) => node.tags.map((tag) => `tag:${tag}`))
    : core.startsWith('path:')
      ? nodes.map((node) => `path:${node.file}`)
      : nodes.map((node) => node.name)
  return new UsageError(`--select: '${term}' means no model`, {
    hint: suggestion(core, new Set(known)),
  })
}

function childrenOf(nodes: readonly Dependent[]): Map<string, string[]> {
  const children = new Map<string, string[]>()
  for (const node of nodes) {
    for (const parent of node.dependsOn) {
      children.set(parent, [...(children.get(parent) ?? []), node.name])
    }
  }
  return children
}

/** All that can be reached from `start` over one or more edges. */
function reach(
  start: readonly string[],
  edges: ReadonlyMap<string, readonly string[]>,
): Set<string> {
  const reached = new Set<string>()
  const open = [...start]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    for (const next of edges.get(name) ?? []) {
      if (reached.has(next)) continue
      reached.add(next)
      open.push(next)
    }
  }
  return reached
}

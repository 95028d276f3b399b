import { UsageError } from '../../lib/errors.ts'
import { suggestion } from '../../lib/text.ts'
import { ProjectError, type Place } from './errors.ts'

export interface Selectable extends Dependent {
  readonly tags: readonly string[]
  readonly materialized?: string
}

/** What the earlier builds made, for selectors like `state:modified` and `result:error`. */
export interface SelectionState {
  /** Whether the published file has no such model. */
  readonly isNew: (model: string) => boolean
  /** Whether the model differs from the one in the published file, or is new. */
  readonly isModified: (model: string) => boolean
  /** The results of each model and its tests in the last build; null without a record. */
  readonly results: ReadonlyMap<string, ReadonlySet<string>> | null
}

/**
 * The nodes that a selector matches, in the given order, with dbt's syntax. Terms separated by
 * spaces are united, terms separated by commas are intersected, and `exclude` removes nodes. A
 * term is a model's name (`*` for any characters), a folder, or `method:value`. A prefix `2+`
 * adds parents up to two levels up, a suffix `+2` children up to two levels down, and a bare `+`
 * all of them. A prefix `@` adds all children and all parents of these.
 *
 * @throws UsageError for a term that matches no models.
 */
export function select<T extends Selectable>(
  nodes: readonly T[],
  selector: string | undefined,
  exclude?: string,
  state?: SelectionState,
): T[] {
  const all = new Set(nodes.map(({ name }) => name))
  const chosen = selector === undefined ? all : union(nodes, selector, { flag: '--select', state })
  const left =
    exclude === undefined ? new Set() : union(nodes, exclude, { flag: '--exclude', state })
  return nodes.filter(({ name }) => chosen.has(name) && !left.has(name))
}

/** Where a selector stands, and what it may refer to. */
interface Origin {
  readonly flag: '--select' | '--exclude'
  readonly state: SelectionState | undefined
}

function union(nodes: readonly Selectable[], selector: string, origin: Origin): Set<string> {
  const terms = selector.split(/\s+/).filter((term) => term !== '')
  if (terms.length === 0) throw new UsageError(`${origin.flag}: the selector is empty`)
  return new Set(
    terms.flatMap((term) => {
      const parts = term.split(',').map((part) => selectTerm(nodes, part, origin))
      const [first = new Set<string>(), ...others] = parts
      return [...first].filter((name) => others.every((other) => other.has(name)))
    }),
  )
}

const TERM = /^(?<all>@?)(?:(?<up>\d*)\+)?(?<core>.*?)(?:\+(?<down>\d*))?$/

function selectTerm(nodes: readonly Selectable[], term: string, origin: Origin): Set<string> {
  const { all = '', up, core = '', down } = TERM.exec(term)?.groups ?? {}
  const matched = nodes.filter(matcherOf(core, origin)).map(({ name }) => name)
  // matching nothing new or failed is not an error
  if (matched.length === 0 && !/^(state|result):/.test(core))
    throw noMatch(nodes, origin.flag, term, core)
  const parents = new Map(nodes.map((node) => [node.name, node.dependsOn]))
  const children = childrenOf(nodes)
  const below = reach(matched, children, all === '@' ? Infinity : steps(down))
  const above = all === '@' ? reach([...matched, ...below], parents) : []
  return new Set([...matched, ...reach(matched, parents, steps(up)), ...below, ...above])
}

/** The number of levels of a `+`; 0 without one. */
function steps(count: string | undefined): number {
  if (count === undefined) return 0
  return count === '' ? Infinity : Number(count)
}

type Matcher = (node: Selectable) => boolean

const METHODS = new Map<string, (value: string, origin: Origin) => Matcher>([
  ['tag', (value) => (node) => node.tags.includes(value)],
  ['path', (value) => (node) => isUnder(node.file, value.replace(/\/$/, ''))],
  ['config.materialized', (value) => (node) => node.materialized === value],
  [
    'resource_type',
    (value) => (node) => {
      const { materialized = '' } = node
      return value === (['seed', 'snapshot'].includes(materialized) ? materialized : 'model')
    },
  ],
  ['state', stateMatcher],
  ['result', resultMatcher],
])

function stateMatcher(value: string, { flag, state }: Origin): Matcher {
  requireOneOf(flag, 'state', value, ['modified', 'unmodified', 'new', 'old'])
  if (state === undefined) throw new UsageError(`${flag}: state:${value} needs a published file`)
  const isOf = value.endsWith('modified') ? state.isModified : state.isNew
  return ({ name }) => isOf(name) === ['modified', 'new'].includes(value)
}

function resultMatcher(value: string, { flag, state }: Origin): Matcher {
  requireOneOf(flag, 'result', value, ['error', 'fail', 'warn', 'skipped', 'success', 'pass'])
  const results = state?.results ?? null
  if (results !== null) return ({ name }) => results.get(name)?.has(value) === true
  const problem = `${flag}: result:${value}: there are no results of a previous build`
  throw new UsageError(problem, { hint: 'Build everything first: agent-warehouse build.' })
}

function matcherOf(core: string, origin: Origin): Matcher {
  const [, method, value = ''] = /^([a-z_.]+):(.*)$/.exec(core) ?? []
  if (method === undefined) return (node) => isNamed(node, core)
  const matcher = METHODS.get(method)
  if (matcher !== undefined) return matcher(value, origin)
  throw new UsageError(`${origin.flag}: there is no method '${method}'`, {
    hint: suggestion(method, METHODS.keys()),
  })
}

function requireOneOf(flag: string, method: string, value: string, known: readonly string[]): void {
  if (known.includes(value)) return
  throw new UsageError(`${flag}: '${method}:${value}' is not known`, {
    hint: suggestion(value, known),
  })
}

/** True if the name, a folder of the file, or both match, as in `marts.fct_*`. */
function isNamed({ name, file }: Selectable, core: string): boolean {
  const folders = file.split('/').slice(1, -1)
  const isLike = (text: string): boolean => pattern(core).test(text)
  if (isLike(name)) return true
  const paths = folders.map((_, index) => folders.slice(0, index + 1).join('.'))
  return [...paths, [...folders, name].join('.')].some(isLike)
}

function pattern(glob: string): RegExp {
  const escaped = glob.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`)
}

function isUnder(file: string, path: string): boolean {
  return pattern(path).test(file) || file.startsWith(`${path}/`)
}

function noMatch(
  nodes: readonly Selectable[],
  flag: string,
  term: string,
  core: string,
): UsageError {
  const known = core.startsWith('tag:')
    ? nodes.flatMap((node) => node.tags.map((tag) => `tag:${tag}`))
    : core.startsWith('path:')
      ? nodes.map((node) => `path:${node.file}`)
      : nodes.map((node) => node.name)
  return new UsageError(`${flag}: '${term}' matches no models`, {
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

interface Dependent {
  readonly name: string
  readonly file: string
  readonly dependsOn: readonly string[]
}

/**
 * Sorts nodes after those that they depend on, otherwise in the given order.
 * Ignores names without a node; `placeOf` returns the place where a node names a parent.
 *
 * @throws ProjectError that prints a cycle.
 */
export function inOrder<T extends Dependent>(
  nodes: readonly T[],
  placeOf: (node: Dependent, parent: string) => Place = ({ file }) => ({ file }),
): T[] {
  const byName = new Map(nodes.map((node) => [node.name, node]))
  const ordered = new Set<T>()
  const visit = (node: T, trail: readonly string[]): void => {
    if (ordered.has(node)) return
    if (trail.includes(node.name)) {
      const cycle = [...trail.slice(trail.indexOf(node.name)), node.name]
      const problem = `models depend on each other in a cycle: ${cycle.join(' -> ')}`
      throw new ProjectError(placeOf(node, cycle[1] ?? ''), problem, {
        hint: 'Remove one of these references.',
      })
    }
    for (const name of node.dependsOn) {
      const parent = byName.get(name)
      if (parent !== undefined) visit(parent, [...trail, node.name])
    }
    ordered.add(node)
  }
  for (const node of nodes) visit(node, [])
  return [...ordered]
}

/** The names, and those of all nodes that they depend on. */
export function lineageOf(names: readonly string[], nodes: readonly Dependent[]): Set<string> {
  const parents = new Map(nodes.map(({ name, dependsOn }) => [name, dependsOn]))
  return new Set([...names, ...reach(names, parents)])
}

/** The names that can be reached from `start` over one or more edges, at most `steps`. */
function reach(
  start: readonly string[],
  edges: ReadonlyMap<string, readonly string[]>,
  steps = Infinity,
): Set<string> {
  const reached = new Set<string>()
  let border = [...start]
  for (let step = 0; step < steps && border.length > 0; step += 1) {
    border = border.flatMap((name) => edges.get(name) ?? []).filter((name) => !reached.has(name))
    for (const name of border) reached.add(name)
  }
  return reached
}

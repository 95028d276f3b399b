import { ProjectError, type Place } from './errors.ts'

export interface Dependent {
  readonly name: string
  readonly file: string
  readonly dependsOn: readonly string[]
}

/** Where a node speaks of one that it depends on. */
export type PlaceOfReference = (node: Dependent, parent: string) => Place

/**
 * The nodes with every one behind those it depends on, else in the order given.
 * Names that are no node are passed over.
 *
 * @throws ProjectError that prints the cycle when there is one.
 */
export function inOrder<T extends Dependent>(
  nodes: readonly T[],
  placeOf: PlaceOfReference = ({ file }) => ({ file }),
): T[] {
  const byName = new Map(nodes.map((node) => [node.name, node]))
  const ordered = new Set<T>()
  const visit = (node: T, trail: readonly string[]): void => {
    if (ordered.has(node)) return
    if (trail.includes(node.name)) throw cycleError(node, trail, placeOf)
    for (const name of node.dependsOn) {
      const parent = byName.get(name)
      if (parent !== undefined) visit(parent, [...trail, node.name])
    }
    ordered.add(node)
  }
  for (const node of nodes) visit(node, [])
  return [...ordered]
}

function cycleError(
  node: Dependent,
  trail: readonly string[],
  placeOf: PlaceOfReference,
): ProjectError {
  const cycle = [...trail.slice(trail.indexOf(node.name)), node.name]
  return new ProjectError(
    placeOf(node, cycle[1] ?? ''),
    `models go in a circle: ${cycle.join(' -> ')}`,
    {
      hint: 'Take one of these references out.',
    },
  )
}

/** All that can be reached from `start` over one or more edges, `steps` at most. */
export function reach(
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

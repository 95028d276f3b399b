import { cut } from '../../lib/text.ts'

/** The inputs of each model, by name. A name without an entry is a source. */
export type Reads = ReadonlyMap<string, readonly string[]>

const COLUMN = 236
const ROW = 26
const BOX = { width: 208, height: 20 }

/**
 * The lineage of a model as SVG, from left to right: everything it depends on, and the models that
 * read it. It repeats the lists beside it, and is hidden from screen readers. Names of models contain
 * no character with a meaning in HTML.
 */
export function lineage(name: string, reads: Reads): string {
  const columns = columnsOf(name, reads)
  const rows = Math.max(...columns.map(({ length }) => length))
  const places = new Map(
    columns.flatMap((names, column) => {
      const above = (rows - names.length) / 2
      return names.map((each, at) => [each, { column, row: above + at }] as const)
    }),
  )
  const height = rows * ROW
  const boxes = [...places].map(([each, place]) => {
    const { x, y } = cornerOf(place)
    const kind = each === name ? ' class="self"' : ''
    return `<g${kind}><rect x="${x}" y="${y}" width="${BOX.width}" height="${BOX.height}" rx="4"/><text x="${x + 8}" y="${y + 14}">${cut(each, 32)}</text></g>`
  })
  const lines = [...places].flatMap(([each, to]) =>
    (reads.get(each) ?? []).flatMap((parent) => {
      const from = places.get(parent)
      return from === undefined ? [] : [lineBetween(cornerOf(from), cornerOf(to))]
    }),
  )
  const width = columns.length * COLUMN - (COLUMN - BOX.width)
  return `<svg aria-hidden="true" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${[...lines, ...boxes].join('')}</svg>`
}

/** Names from left to right: each is left of every name that reads it. */
function columnsOf(name: string, reads: Reads): string[][] {
  const distances = new Map<string, number>()
  const follow = (each: string, distance: number): void => {
    if ((distances.get(each) ?? -1) >= distance) return
    distances.set(each, distance)
    for (const parent of reads.get(each) ?? []) follow(parent, distance + 1)
  }
  follow(name, 0)
  const farthest = Math.max(...distances.values())
  const columns = Array.from({ length: farthest + 1 }, (_, column) =>
    [...distances]
      .filter(([, distance]) => distance === farthest - column)
      .map(([each]) => each)
      .sort(),
  )
  const readers = readersOf(name, reads)
  return readers.length === 0 ? columns : [...columns, readers]
}

/** The models that read it directly. */
export function readersOf(name: string, reads: Reads): string[] {
  return [...reads].filter(([, parents]) => parents.includes(name)).map(([reader]) => reader)
}

function cornerOf({ column, row }: { column: number; row: number }): { x: number; y: number } {
  return { x: column * COLUMN, y: row * ROW + (ROW - BOX.height) / 2 }
}

function lineBetween(from: { x: number; y: number }, to: { x: number; y: number }): string {
  const [x1, y1] = [from.x + BOX.width, from.y + BOX.height / 2]
  const [x2, y2] = [to.x, to.y + BOX.height / 2]
  const middle = (x1 + x2) / 2
  return `<path d="M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}"/>`
}

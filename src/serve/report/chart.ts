import type { View } from './view.ts'

export type Cell = string | number | boolean | null

/** What a chart shows for a view: the page draws it, the table under it lists it. */
export interface Reading<Row> {
  /** The title: what the chart says. */
  readonly finding: string
  readonly rows: readonly Row[]
}

/** A chart but for its drawing, which only a browser can do. */
export interface Chart<Row = Readonly<Record<string, Cell>>> {
  readonly id: string
  /** What is drawn, with units. */
  readonly about: string
  /** How the numbers are computed, and what they must not be used for. */
  readonly how: string
  /** The heading of each column of the table. */
  readonly columns: Readonly<Record<string, string>>
  /** Whether it is the same for every team: its subject is the whole organisation. */
  readonly isOfOrganisation: boolean
  readonly read: (view: View) => Reading<Row>
}

interface Spec<Row extends Readonly<Record<string, Cell>>> extends Omit<
  Chart<Row>,
  'read' | 'columns' | 'isOfOrganisation'
> {
  readonly columns: { readonly [K in keyof Row]?: string }
  readonly isOfOrganisation?: boolean
  readonly rows: (view: View) => readonly Row[]
  /** Of at least one row. */
  readonly finding: (rows: readonly Row[], view: View) => string
  /** The title where there is no row. */
  readonly empty: string
}

export function defineChart<Row extends Readonly<Record<string, Cell>>>(
  spec: Spec<Row>,
): Chart<Row> {
  const { id, about, how, columns, isOfOrganisation = true, rows: read, finding, empty } = spec
  return {
    id,
    about,
    how,
    isOfOrganisation,
    columns: Object.fromEntries(
      Object.entries(columns).map(([name, heading]) => [name, String(heading)]),
    ),
    read: (view) => {
      const rows = read(view)
      return { rows, finding: rows.length === 0 ? empty : finding(rows, view) }
    },
  }
}

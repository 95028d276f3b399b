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
  /** What of it is the compared period, as in `dashed: the last 7 days`; null: nothing. */
  readonly compared: string | null
  /** Metrics of `metrics.yml` that it shows: what they mean is said there alone. */
  readonly metrics: readonly string[]
  /** How it is computed beyond its metrics, and what it must not be used for. */
  readonly how: string
  /** The heading of each column of the table. */
  readonly columns: Readonly<Record<string, string>>
  /** Whether it is the same for every team: its subject is the whole organisation. */
  readonly isOfOrganisation: boolean
  readonly read: (view: View) => Reading<Row>
}

interface Spec<Row extends Readonly<Record<string, Cell>>> extends Omit<
  Chart<Row>,
  'read' | 'columns' | 'isOfOrganisation' | 'metrics' | 'compared'
> {
  readonly columns: { readonly [K in keyof Row]?: string }
  readonly isOfOrganisation?: boolean
  readonly compared?: string
  readonly metrics?: readonly string[]
  readonly rows: (view: View) => readonly Row[]
  /** Of at least one row. */
  readonly finding: (rows: readonly Row[], view: View) => string
  /** The title where there is no row. */
  readonly empty: string | ((view: View) => string)
}

export function defineChart<Row extends Readonly<Record<string, Cell>>>(
  spec: Spec<Row>,
): Chart<Row> {
  const { id, about, compared = null, metrics = [], how, columns, isOfOrganisation = true } = spec
  const { rows: read, finding, empty } = spec
  const nothing = typeof empty === 'string' ? () => empty : empty
  return {
    id,
    about,
    compared,
    metrics,
    how,
    isOfOrganisation,
    columns: Object.fromEntries(
      Object.entries(columns).map(([name, heading]) => [name, String(heading)]),
    ),
    read: (view) => {
      const rows = read(view)
      return { rows, finding: rows.length === 0 ? nothing(view) : finding(rows, view) }
    },
  }
}

import type { View } from './view.ts'

export type Cell = string | number | boolean | null
type Cells = Readonly<Record<string, Cell>>

/** A chart without its drawing, which needs a browser. */
export interface Chart<Row = Cells> {
  readonly id: string
  /** The axes and marks, with units. */
  readonly about: string
  /** How the compared period is drawn, as in `dashed: the last 7 days`; null: not at all. */
  readonly compared: string | null
  /** Metrics of `metrics.yml` that it shows; only that file defines them. */
  readonly metrics: readonly string[]
  /** How it is computed beyond its metrics, and what it must not be used for. */
  readonly how: string
  /** The heading of each column of the table. */
  readonly columns: Readonly<Partial<Record<string, string>>>
  /** Whether it is the same for every team, because its subject is the organisation. */
  readonly isOfOrganisation: boolean
  /**
   * The content for a view: the title, which states the finding, and the rows that the page draws,
   * and lists in the table below.
   */
  readonly read: (view: View) => { readonly finding: string; readonly rows: readonly Row[] }
}

interface Spec<Row extends Cells>
  extends
    Pick<Chart, 'id' | 'about' | 'how'>,
    Partial<Pick<Chart, 'compared' | 'metrics' | 'isOfOrganisation'>> {
  readonly columns: { readonly [K in keyof Row]?: string }
  readonly rows: (view: View) => readonly Row[]
  /** For at least one row. */
  readonly finding: (rows: readonly Row[], view: View, last: Row) => string
  /** The title without rows. */
  readonly empty: string | ((view: View) => string)
}

export function defineChart<Row extends Cells>({
  rows: read,
  finding,
  empty,
  ...spec
}: Spec<Row>): Chart<Row> {
  const nothing = typeof empty === 'string' ? () => empty : empty
  return {
    ...{ compared: null, metrics: [], isOfOrganisation: true },
    ...spec,
    read: (view) => {
      const rows = read(view)
      const last = rows.at(-1)
      return { rows, finding: last === undefined ? nothing(view) : finding(rows, view, last) }
    },
  }
}

import { BYTE_ORDER_MARK, csvField } from '../../spreadsheet.ts'
import type { Cell, Chart } from '../chart.ts'
import type { View } from '../view.ts'
import { counted } from '../words.ts'
import type { ReportData } from '../data.ts'

export type TableRow = Readonly<Record<string, Cell>>

type Columns = Pick<Chart, 'columns'>

/** More rows do not help a reader; the saved file has all. */
const LISTED = 200

/** The rows that the table shows: the newest of rows by time, the first of others. */
export function listed({ columns }: Columns, rows: readonly TableRow[]) {
  const left = rows.length - LISTED
  if (left <= 0) return { shown: rows, note: null }
  const [first = ''] = Object.keys(columns)
  const [from, to] = [rows[0]?.[first], rows.at(-1)?.[first]]
  const isOldestFirst = isDay(from) && isDay(to) && from < to
  const kind = isOldestFirst ? 'earlier' : 'more'
  return {
    shown: isOldestFirst ? rows.slice(left) : rows.slice(0, LISTED),
    note: `${counted(left, `${kind} row is`, `${kind} rows are`)} in the file.`,
  }
}

/** Whether a cell is a day or a month, ISO 8601. */
export function isDay(cell: Cell | undefined): cell is string {
  return typeof cell === 'string' && /^\d{4}-\d\d(-\d\d)?$/.test(cell)
}

/** `seats_org_a_91-days-to-2026-03-31.csv`, of characters that every file system allows. */
export function csvName(chart: string, { organisation, days }: View): string {
  const id = organisation.org_id.replaceAll(/[^\w-]+/g, '-').slice(0, 60)
  const { last_day: last } = organisation
  return `${chart}_${id}${last === null ? '' : `_${days}-days-to-${last}`}.csv`
}

/** All rows as a file for a spreadsheet. */
export function csvText({ columns }: Columns, rows: readonly TableRow[]): string {
  const names = Object.keys(columns)
  const lines = [names, ...rows.map((row) => names.map((name) => row[name] ?? null))]
  return `${BYTE_ORDER_MARK}${lines.map((cells) => cells.map(csvCell).join(',')).join('\r\n')}`
}

function csvCell(value: Cell): string {
  if (typeof value === 'number') return String(withoutNoise(value))
  return typeof value === 'string' ? csvField(value) : String(value ?? '')
}

/** A number with the 15 digits of a double that are exact: a sum can end in `…3499999996`. */
function withoutNoise(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(15))
}

/** The data in the page: each list of rows is stored as columns (packed by `report.ts`). */
export function unpack(text: string): ReportData {
  const packed: unknown = JSON.parse(text, (_, value: unknown) => rowsOf(value))
  if (!isReport(packed)) throw new Error('the report holds no data')
  return packed
}

/** An object that contains only lists of one length was a list of rows. */
function rowsOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const columns = Object.entries(value)
  if (!columns.every(([, cells]) => Array.isArray(cells))) return value
  const [, first] = columns[0] ?? []
  if (!Array.isArray(first)) return []
  return first.map((_, at) =>
    Object.fromEntries(
      columns.map(([name, cells]) => [name, Array.isArray(cells) ? cells[at] : null]),
    ),
  )
}

function isReport(value: unknown): value is ReportData {
  return typeof value === 'object' && value !== null && 'organisations' in value
}

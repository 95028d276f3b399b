import type { ReportData } from '../data.ts'

/** The data in the page: each list of rows is stored as columns (packed by `html.ts`). */
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

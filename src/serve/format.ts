import type { Cell, Table } from '../store/duckdb.ts'
import { cellText, jsonText } from './cell-text.ts'
import { columnType, isNumeric, type ColumnType } from './column-type.ts'
import { displayWidth, truncated, visible } from './display.ts'
import { defused } from './formula.ts'

export type OutputFormat = 'table' | 'json' | 'csv'

export const outputFormats: readonly OutputFormat[] = ['table', 'json', 'csv']

export interface FormatOptions {
  /** Terminal columns; text cells of a table are cut to fit. Nothing is cut without it. */
  readonly width?: number
}

/** A text column is not cut below this many columns: the lines are longer then. */
const MIN_TEXT_WIDTH = 8

/** A result as text, ending with a newline. */
export function formatResult(
  table: Table,
  format: OutputFormat,
  options: FormatOptions = {},
): string {
  if (format === 'json') return formatJson(table)
  if (format === 'csv') return formatCsv(table)
  return formatTable(table, options)
}

/**
 * An array of objects, one row a line; `jsonText` says how a cell is written.
 * Columns of one name are told apart as `name`, `name_1`, `name_2`.
 */
export function formatJson(table: Table): string {
  const types = table.types.map(columnType)
  const keys = distinctNames(table.columns).map((name) => JSON.stringify(name))
  const rows = table.rows.map((row) => {
    const members = keys.map((key, at) => `${key}:${jsonText(row[at] ?? null, typeAt(types, at))}`)
    return `{${members.join(',')}}`
  })
  return rows.length === 0 ? '[]\n' : `[\n${rows.join(',\n')}\n]\n`
}

/**
 * RFC 4180 with `\n` for the line end and no byte order mark, for pipes. NULL
 * is an empty cell and empty text `""`. Text that a spreadsheet would run as a
 * formula gets a leading apostrophe; numbers never do.
 */
export function formatCsv(table: Table): string {
  const types = table.types.map(columnType)
  const header = distinctNames(table.columns).map((name) => quoted(defused(name)))
  const rows = table.rows.map((row) =>
    types.map((type, at) => csvCell(row[at] ?? null, type)).join(','),
  )
  return [header.join(','), ...rows].map((line) => `${line}\n`).join('')
}

/**
 * Aligned columns, numbers to the right, NULL spelt `NULL` (it is not zero and
 * not empty text), control characters escaped, the number of rows last.
 */
export function formatTable(table: Table, options: FormatOptions = {}): string {
  const types = table.types.map(columnType)
  const header = table.columns.map(visible)
  const body = table.rows.map((row) => types.map((type, at) => tableCell(row[at] ?? null, type)))
  const widths = columnWidths([header, ...body], types, options.width)
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => aligned(cell, widths[at] ?? 0, typeAt(types, at)))
      .join(' | ')
      .trimEnd()
  const rule = widths.map((width) => '-'.repeat(width)).join('-+-')
  const count = `(${body.length} ${body.length === 1 ? 'row' : 'rows'})`
  const lines = header.length === 0 ? [count] : [line(header), rule, ...body.map(line), count]
  return `${lines.join('\n')}\n`
}

/** Names made distinct by `_1`, `_2`, … after the second and later of a name. */
export function distinctNames(names: readonly string[]): string[] {
  const taken = new Set(names)
  const seen = new Set<string>()
  return names.map((name) => {
    const distinct = seen.has(name) ? firstFree(name, taken) : name
    seen.add(distinct)
    taken.add(distinct)
    return distinct
  })
}

function firstFree(name: string, taken: ReadonlySet<string>): string {
  let number = 1
  while (taken.has(`${name}_${number}`)) number += 1
  return `${name}_${number}`
}

function csvCell(cell: Cell, type: ColumnType): string {
  if (cell === null) return ''
  const text = cellText(cell, type)
  return isNumeric(type) ? text : quoted(defused(text))
}

function quoted(text: string): string {
  return text === '' || /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function tableCell(cell: Cell, type: ColumnType): string {
  return cell === null ? 'NULL' : visible(cellText(cell, type))
}

function aligned(cell: string, width: number, type: ColumnType): string {
  const shown = truncated(cell, width)
  const padding = ' '.repeat(Math.max(0, width - displayWidth(shown)))
  return isNumeric(type) ? padding + shown : shown + padding
}

/** As wide as the widest cell; where a limit is given, the widest text columns give way. */
function columnWidths(
  lines: readonly (readonly string[])[],
  types: readonly ColumnType[],
  limit: number | undefined,
): number[] {
  const natural = types.map((_, at) =>
    lines.reduce((widest, line) => Math.max(widest, displayWidth(line[at] ?? '')), 0),
  )
  if (limit === undefined) return natural
  const capped = (cap: number): number[] =>
    natural.map((width, at) => (isNumeric(typeAt(types, at)) ? width : Math.min(width, cap)))
  let cap = Math.max(MIN_TEXT_WIDTH, limit)
  while (cap > MIN_TEXT_WIDTH && lineWidth(capped(cap)) > limit) cap -= 1
  return capped(cap)
}

function lineWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0) + 3 * (widths.length - 1)
}

function typeAt(types: readonly ColumnType[], at: number): ColumnType {
  return types[at] ?? { kind: 'text' }
}

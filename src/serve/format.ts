import type { Table, Value } from '../lib/duckdb.ts'
import { cellText, isNumeric, isTimestamp, jsonText } from './cells.ts'
import { csvField } from './spreadsheet.ts'
import { safeText, unicodeEscape } from '../lib/text.ts'

export const outputFormats = ['table', 'json', 'csv'] as const
type OutputFormat = (typeof outputFormats)[number]

type Result = Table<Value>

/**
 * A result as text, ending with a newline. A table that is wider than `width` terminal columns is
 * written one column per line.
 */
export function formatResult(table: Result, format: OutputFormat, width?: number): string {
  if (format === 'json') return formatJson(table)
  if (format === 'csv') return formatCsv(table)
  return formatTable(table, width)
}

/**
 * An array of objects, one row a line; `jsonText` says how a cell is written.
 * Columns of one name become `name`, `name_1`, `name_2`.
 */
export function formatJson(table: Result): string {
  const keys = distinctNames(table.columns).map((name) => JSON.stringify(name))
  const rows = table.rows.map((row) => {
    const members = row.map((cell, at) => `${keys[at] ?? ''}:${jsonText(cell)}`)
    return `{${members.join(',')}}`
  })
  return rows.length === 0 ? '[]\n' : `[\n${rows.join(',\n')}\n]\n`
}

/**
 * RFC 4180 with `\n` for the line end and no byte order mark, for pipes. NULL
 * is an empty cell and empty text `""`. Text that a spreadsheet would run as a
 * formula gets a leading apostrophe; numbers never do.
 */
export function formatCsv(table: Result): string {
  const header = distinctNames(table.columns).map(csvField)
  const rows = table.rows.map((row) =>
    row.map((cell, at) => csvCell(cell, table.types[at] ?? '')).join(','),
  )
  return linesText([header.join(','), ...rows])
}

/**
 * Aligned columns, numbers to the right, NULL spelt `NULL` (it is not zero and
 * not empty text), times to the second, invisible characters escaped, and the number of
 * rows. Nothing is cut: a table wider than the terminal is written one column per line,
 * and DuckDB's answer to EXPLAIN as text.
 */
export function formatTable(table: Result, width = Infinity): string {
  if (isExplanation(table)) return explanationText(table)
  const { types } = table
  const header = table.columns.map(visibleValue)
  const body = table.rows.map((row) => row.map((cell, at) => tableCell(cell, types[at] ?? '')))
  const widths = header.map((name, at) =>
    body.reduce(
      (widest, line) => Math.max(widest, displayWidth(line[at] ?? '')),
      displayWidth(name),
    ),
  )
  const count = `(${body.length} ${body.length === 1 ? 'row' : 'rows'})`
  const total = widths.reduce((sum, width) => sum + width, 3 * (widths.length - 1))
  if (total > width && body.length > 0) {
    return linesText([...body.flatMap((cells, at) => record(header, cells, at)), count])
  }
  const line = (cells: readonly string[]): string =>
    types
      .map((type, at) => padded(cells[at] ?? '', widths[at] ?? 0, isNumeric(type)))
      .join(' | ')
      .trimEnd()
  const rule = widths.map((width) => '-'.repeat(width)).join('-+-')
  return linesText(header.length === 0 ? [count] : [line(header), rule, ...body.map(line), count])
}

/** One row with a column per line, as psql's `\x` writes it. */
function record(header: readonly string[], cells: readonly string[], at: number): string[] {
  const width = Math.max(...header.map(displayWidth))
  return [
    `-[ row ${at + 1} ]-`,
    ...header.map((name, column) => `${padded(name, width)} | ${cells[column] ?? ''}`.trimEnd()),
  ]
}

/** True for the answer to EXPLAIN, which draws a plan over several lines in one cell. */
function isExplanation({ columns }: Result): boolean {
  return columns.length === 2 && columns[0] === 'explain_key' && columns[1] === 'explain_value'
}

function explanationText({ rows }: Result): string {
  const lines = rows.flatMap((row) => (typeof row[1] === 'string' ? row[1].split('\n') : []))
  return linesText(lines.map((line) => visible(line).trimEnd()).filter((line) => line !== ''))
}

export function linesText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('')
}

/** Names made distinct by `_1`, `_2`, … after the second and later of a name. */
export function distinctNames(names: readonly string[]): string[] {
  const taken = new Set(names)
  const seen = new Set<string>()
  return names.map((name) => {
    let distinct = name
    for (let at = 1; seen.has(name) && taken.has(distinct); at += 1) distinct = `${name}_${at}`
    seen.add(distinct)
    taken.add(distinct)
    return distinct
  })
}

function csvCell(cell: Value, type: string): string {
  if (cell === null) return ''
  const text = cellText(cell)
  return isNumeric(type) ? text : csvField(text)
}

function tableCell(cell: Value, type: string): string {
  if (cell === null) return 'NULL'
  const text = visibleValue(cellText(cell))
  return isTimestamp(type) ? text.replace(/\.\d+/, '') : text
}

function padded(text: string, width: number, isToTheRight = false): string {
  const padding = ' '.repeat(Math.max(0, width - displayWidth(text)))
  return isToTheRight ? padding + text : text + padding
}

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** Printable characters with one column and one code unit each: no others need `widthOf`. */
const PLAIN = /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u024f…]*$/
/** Characters with two columns: East Asian wide and full-width ones, and emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{17000}-\u{18cff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u
/**
 * Characters that are drawn as nothing, such as variation selectors, or as a blank, and a
 * trailing blank. Joiners are left to `safeText`.
 */
const UNSEEN = /(?![\u200c\u200d])\p{DI}|[\u2800\u{1d159}]|(?![ \u3000])\p{Zs}|[ \u3000]$/gu
const WIDTHLESS = /^[\p{Mn}\p{Me}\p{Cf}]+$/u

/** The text on one line, without characters that a terminal would execute. */
export function visible(text: string): string {
  if (PLAIN.test(text)) return text
  return safeText(text.replaceAll('\r', '\\r').replaceAll('\n', '\\n').replaceAll('\t', '\\t'))
}

/** For values in a table: also escapes invisible characters, so that different values look different. */
function visibleValue(text: string): string {
  return visible(text).replaceAll(UNSEEN, unicodeEscape)
}

/** The number of terminal columns of a text, accurate enough for alignment. */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length
  return [...graphemes.segment(text)].reduce((sum, { segment }) => sum + widthOf(segment), 0)
}

function widthOf(grapheme: string): number {
  if (WIDE.test(grapheme)) return 2
  return WIDTHLESS.test(grapheme) ? 0 : 1
}

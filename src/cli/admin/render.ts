import { fieldOf } from '../../client/index.ts'
import { toSecond } from '../../observe/words.ts'
import { displayWidth, formatTable, linesText, visible } from '../../serve/format.ts'
import type { Output, Terminal } from '../command.ts'

/** An item without its secrets: its text, otherwise as served, and its value. */
export interface Clean {
  readonly text: string
  readonly value: unknown
}

/**
 * A table for people that fits the terminal, with control characters of the platform
 * escaped. Columns of numbers are aligned to the right.
 */
export function tableText(
  columns: readonly string[],
  rows: readonly (readonly unknown[])[],
  { outWidth }: Terminal,
): string {
  const isNumber = (at: number): boolean => rows.some((row) => typeof row[at] === 'number')
  const table = {
    columns,
    types: columns.map((_, at) => (isNumber(at) ? 'DOUBLE' : 'VARCHAR')),
    rows: rows.map((row) => row.map(cellOf)),
  }
  return formatTable(table, outWidth)
}

function cellOf(value: unknown): string | number | null {
  if (value === undefined || value === null) return null
  return typeof value === 'number' ? value : textOf(value)
}

/** Names and values, one per line; missing values are left out. */
export function fieldsText(fields: readonly (readonly [string, unknown])[]): string {
  const known = fields.flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [[name, textOf(value)] as const],
  )
  const width = Math.max(0, ...known.map(([name]) => displayWidth(name)))
  return linesText(known.map(([name, text]) => `${name.padEnd(width)}  ${visible(text)}`))
}

/** A sentence on one line: line breaks and other control characters are escaped. */
export function sentenceText(text: string): string {
  return linesText([visible(text)])
}

/** Lines of prose: line breaks stay, other control characters are escaped. */
export function proseText(text: string): string {
  return linesText(text.split(/\r\n|\n/).map(visible))
}

/** Output whose JSON is an array of the items as served. */
export function served(items: readonly Clean[], text: string): Output {
  const json = items.length === 0 ? '[]' : `[\n${items.map((each) => each.text).join(',\n')}\n]`
  return { json, text }
}

/** An instant, or milliseconds since the epoch, in ISO 8601 to the second; other values stay. */
export function timeOf(value: unknown): unknown {
  if (typeof value === 'string') return toSecond(value)
  if (typeof value !== 'number') return value
  const date = new Date(value)
  return Number.isNaN(date.getTime()) ? value : toSecond(date.toISOString())
}

/** A Unix time whose unit is not documented: its size shows it, as in sql/base. */
export function epochTime(value: unknown): unknown {
  if (typeof value !== 'number') return timeOf(value)
  if (value < 1e11) return timeOf(value * 1e3)
  if (value < 1e14) return timeOf(value)
  return timeOf(value < 1e17 ? value / 1e3 : value / 1e6)
}

export function textOf(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

export function fieldsOf(value: unknown, ...names: readonly string[]): unknown[] {
  return names.map((name) => fieldOf(value, name))
}

/** A list in a response; a missing one is empty. */
export function listAt(value: unknown, name: string): readonly unknown[] {
  const list = fieldOf(value, name)
  return Array.isArray(list) ? list : []
}

/** An object in a response; a missing one has no fields. */
export function objectOf(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {}
}

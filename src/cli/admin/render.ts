import { fieldOf } from '../../client/index.ts'
import { toSecond } from '../../observe/words.ts'
import { displayWidth, formatTable, linesText, visible } from '../../serve/format.ts'
import type { Answer, Terminal } from '../command.ts'

/** An item without its secrets: its text, else as served, and what it means. */
export interface Clean {
  readonly text: string
  readonly value: unknown
}

/**
 * A table for people, cut to the terminal; what the platform sent cannot move its cursor.
 * Columns that hold numbers stand to the right.
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

/** Names and values, one a line; what is not there is left out. */
export function fieldsText(fields: readonly (readonly [string, unknown])[]): string {
  const known = fields.flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [[name, textOf(value)] as const],
  )
  const width = Math.max(0, ...known.map(([name]) => displayWidth(name)))
  return linesText(known.map(([name, text]) => `${name.padEnd(width)}  ${visible(text)}`))
}

/** Lines of prose: line breaks stay, everything else that a terminal would obey goes. */
export function proseText(text: string): string {
  return linesText(text.split(/\r\n|\n/).map(visible))
}

/** An array of items as they were served, one a line; or a text of what they mean. */
export function served(items: readonly Clean[], text: string): Answer {
  const json = items.length === 0 ? '[]' : `[\n${items.map((each) => each.text).join(',\n')}\n]`
  return { json, text }
}

/** Of an instant, or milliseconds since the epoch: ISO 8601, to the second; anything else as it came. */
export function timeOf(value: unknown): unknown {
  if (typeof value === 'string') return toSecond(value)
  if (typeof value !== 'number') return value
  const date = new Date(value)
  return Number.isNaN(date.getTime()) ? value : toSecond(date.toISOString())
}

/** A value in words: text as it is, anything nested as JSON. */
export function textOf(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Several members of an answer. */
export function fieldsOf(value: unknown, ...names: readonly string[]): unknown[] {
  return names.map((name) => fieldOf(value, name))
}

/** A list of an answer; one that is not there has no elements. */
export function listAt(value: unknown, name: string): readonly unknown[] {
  const list = fieldOf(value, name)
  return Array.isArray(list) ? list : []
}

/** An object of an answer; one that is not there has no fields. */
export function objectOf(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {}
}

import { fieldOf } from '../../client/index.ts'
import type { Cell } from '../../lib/duckdb.ts'
import { formatTable } from '../../serve/format.ts'
import { displayWidth, visible } from '../../serve/display.ts'
import { toSecond } from '../../observe/words.ts'
import type { Terminal } from '../command.ts'
import type { Clean } from './platform.ts'

/** A column: its name, and whether it holds numbers, which stand to the right. */
export type Column = string | { readonly number: string }

/** A table for people, cut to the terminal; what the platform sent cannot move its cursor. */
export function tableText(
  columns: readonly Column[],
  rows: readonly (readonly unknown[])[],
  { outWidth }: Terminal,
): string {
  const table = {
    columns: columns.map((column) => (typeof column === 'string' ? column : column.number)),
    types: columns.map((column) => (typeof column === 'string' ? 'VARCHAR' : 'DOUBLE')),
    rows: rows.map((row) => row.map(cellOf)),
  }
  return formatTable(table, outWidth === undefined ? {} : { width: outWidth })
}

/** Names and values, one a line; what is not there is left out. */
export function fieldsText(fields: readonly (readonly [string, unknown])[]): string {
  const known = fields.flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [[name, textOf(value)] as const],
  )
  const width = Math.max(0, ...known.map(([name]) => displayWidth(name)))
  return known.map(([name, text]) => `${name.padEnd(width)}  ${visible(text)}\n`).join('')
}

/** Lines of prose: line breaks stay, everything else that a terminal would obey goes. */
export function proseText(text: string): string {
  return text
    .split(/\r\n|\n/)
    .map((line) => `${visible(line)}\n`)
    .join('')
}

/** An array of items as they were served, one a line. */
function itemsJson(texts: readonly string[]): string {
  return texts.length === 0 ? '[]\n' : `[\n${texts.map(inert).join(',\n')}\n]\n`
}

/** Items as they were served, or as a table of what they mean. */
export function listText(
  items: readonly Clean[],
  { json }: { readonly json: boolean },
  table: (values: readonly unknown[]) => string,
): string {
  return json ? itemsJson(items.map(({ text }) => text)) : table(items.map(({ value }) => value))
}

/** One item as it was served. */
export function itemJson(text: string): string {
  return `${inert(text)}\n`
}

/** What a command made, as JSON. */
export function valueJson(value: unknown): string {
  return `${inert(JSON.stringify(value, exact, 2))}\n`
}

/** An integer that most readers of JSON would round is a string. */
function exact(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}

/** Of an instant, or milliseconds since the epoch: ISO 8601, to the second; anything else as it came. */
export function timeOf(value: unknown): unknown {
  if (typeof value === 'string') return toSecond(value)
  if (typeof value !== 'number') return value
  const date = new Date(value)
  return Number.isNaN(date.getTime()) ? value : date.toISOString().replace(/\.\d{3}Z$/, 'Z')
}

/** A value in words: text as it is, anything nested as JSON. */
export function textOf(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
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

function cellOf(value: unknown): Cell {
  if (value === undefined || value === null) return null
  return typeof value === 'number' ? value : textOf(value)
}

/** JSON escapes control characters below 0x20 alone: the others may only stand in its strings. */
function inert(json: string): string {
  return json.replaceAll(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

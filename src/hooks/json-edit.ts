import { parseJsonTree, type JsonArray, type JsonNode, type JsonObject } from './json-tree.ts'

/** What stands in an object or an array: a member with its name, or an item. */
interface Element {
  readonly start: number
  readonly end: number
}

/**
 * The text with one more element at the end of an object or array, written as
 * its neighbours are. Nothing else of the text changes, and `withoutElement`
 * is the exact inverse.
 */
export function withElement(
  text: string,
  container: JsonObject | JsonArray,
  element: { readonly key?: string; readonly value: unknown },
): string {
  const elements = elementsOf(container)
  const [first, last] = [elements[0], elements.at(-1)]
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  if (first === undefined || last === undefined) return intoEmpty(text, container, element, eol)
  const before = text.slice(container.start + 1, first.start)
  if (!before.includes('\n')) return splice(text, last.end, last.end, `, ${inline(element)}`)
  const indent = before.slice(before.lastIndexOf('\n') + 1)
  const lines = spread(element, unitOf(text), indent, eol)
  return splice(text, last.end, last.end, `,${eol}${indent}${lines}`)
}

/** The text without the element at `index`. Blanks that were there before it was put in stay. */
export function withoutElement(
  text: string,
  container: JsonObject | JsonArray,
  index: number,
): string {
  const elements = elementsOf(container)
  const [before, element, after] = [elements[index - 1], elements[index], elements[index + 1]]
  if (element === undefined) return text
  if (after !== undefined) return splice(text, element.start, after.start, '')
  if (before !== undefined) return splice(text, before.end, element.end, '')
  const closes = container.end - 1
  const isAtTheEnd = element.end === closes
  return splice(text, isAtTheEnd ? element.start : container.start + 1, closes, '')
}

/** The text with another value in the place of one. */
export function withValue(text: string, node: JsonNode, value: unknown): string {
  return splice(text, node.start, node.end, JSON.stringify(value))
}

/**
 * Blanks in an empty container stay before the element, so that they can be told
 * from those that come with it.
 */
function intoEmpty(
  text: string,
  container: JsonObject | JsonArray,
  element: { readonly key?: string; readonly value: unknown },
  eol: string,
): string {
  const closes = container.end - 1
  const isBlank = closes > container.start + 1
  if (isBlank || isInline(text)) return splice(text, closes, closes, inline(element))
  const base = lineIndent(text, container.start)
  const unit = unitOf(text)
  const indent = base + unit
  const lines = spread(element, unit, indent, eol)
  return splice(text, closes, closes, `${eol}${indent}${lines}${eol}${base}`)
}

function elementsOf(container: JsonObject | JsonArray): readonly Element[] {
  if (container.kind === 'array') return container.items
  return container.members.map(({ start, value }) => ({ start, end: value.end }))
}

function inline({ key, value }: { readonly key?: string; readonly value: unknown }): string {
  return (key === undefined ? '' : `${JSON.stringify(key)}: `) + JSON.stringify(value)
}

function spread(
  { key, value }: { readonly key?: string; readonly value: unknown },
  unit: string,
  indent: string,
  eol: string,
): string {
  const lines = JSON.stringify(value, null, unit).replaceAll('\n', `${eol}${indent}`)
  return (key === undefined ? '' : `${JSON.stringify(key)}: `) + lines
}

/** True where the whole text is written on one line: its first member is on the line of its brace. */
function isInline(text: string): boolean {
  const before = beforeFirst(text)
  return before !== undefined && !before.includes('\n')
}

/** One step of indentation, as the first member has it. */
function unitOf(text: string): string {
  const before = beforeFirst(text)
  const unit = before?.slice(before.lastIndexOf('\n') + 1) ?? ''
  return before?.includes('\n') === true && /^(\t+| {1,10})$/.test(unit) ? unit : '  '
}

/** What stands between the brace of the whole and its first member. */
function beforeFirst(text: string): string | undefined {
  const root = parseJsonTree(text)
  if (root.kind === 'scalar') return undefined
  const [first] = elementsOf(root)
  return first === undefined ? undefined : text.slice(root.start + 1, first.start)
}

function lineIndent(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf('\n', at) + 1, at)
  return /^[ \t]*/.exec(line)?.[0] ?? ''
}

function splice(text: string, start: number, end: number, instead: string): string {
  return text.slice(0, start) + instead + text.slice(end)
}

import { OPEN_BRACE } from '../core/json-text.ts'
import { parseQuietly, RowScanner, type RowsAt, type ServedRow } from './row-scanner.ts'

export interface Envelope {
  readonly rows: readonly ServedRow[]
  /** The document with the array of the rows emptied. */
  readonly rest: unknown
}

/**
 * Cuts a whole answer at the boundaries of its rows (see RowScanner). Every piece
 * is parsed, so a wrong cut cannot pass: the rows one by one, and the rest with
 * the array emptied.
 *
 * @throws SyntaxError when the text is not JSON, not an object, or has no such array.
 */
export function sliceEnvelope(text: string, key = 'data'): Envelope {
  return slice(text, { key })
}

/** The same for an answer that is itself the array of its rows. @throws SyntaxError */
export function sliceArray(text: string): readonly ServedRow[] {
  return slice(text, 'array').rows
}

function slice(text: string, rowsAt: RowsAt): Envelope {
  const scanner = new RowScanner(rowsAt)
  const rows = scanner.readWhole(text)
  return { rows, rest: scanner.end() }
}

/** An answer that is one row. @throws SyntaxError when it is no object. */
export function sliceWhole(text: string): ServedRow {
  const trimmed = text.trim()
  if (trimmed.charCodeAt(0) !== OPEN_BRACE) throw new SyntaxError('the answer is no object')
  return { text: trimmed, value: parseQuietly(text) }
}

/** The value of a field, or undefined where `value` is no object or has no such field. */
export function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined
}

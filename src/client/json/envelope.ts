import { hash } from 'node:crypto'
import { fieldOf, openValue, valueEnd } from '../../lib/json.ts'
import { RowScanner, servedRow, type RowsAt, type ServedRow } from './row-scanner.ts'
import { isDay } from '../../lib/days.ts'
import { kindOf } from '../../lib/text.ts'

export interface Envelope {
  readonly rows: readonly ServedRow[]
  /** The document with the array of the rows emptied. */
  readonly rest: unknown
}

/**
 * Cuts a complete answer at the boundaries of its rows (see RowScanner). Parses each row,
 * and the rest with the array emptied, which would reveal a wrong cut.
 *
 * @throws SyntaxError if the text is not JSON, not an object, or has no such array.
 */
export function sliceEnvelope(text: string, rowsAt: RowsAt = { key: 'data' }): Envelope {
  const scanner = new RowScanner(rowsAt)
  const rows = scanner.readWhole(text)
  return { rows, rest: scanner.end() }
}

/** A checksum of the rows of an answer: of the JSON text of their array, exactly as served. */
export interface RowsSum {
  readonly rows: number
  readonly characters: number
  /** SHA-256 of the text in UTF-8, base64. */
  readonly sha256: string
}

export interface SummedEnvelope {
  /** Null if the rows are the known ones, which are not parsed. */
  readonly rows: readonly ServedRow[] | null
  readonly sum: RowsSum
  readonly rest: unknown
}

/**
 * Like `sliceEnvelope`, but if the rows are the `known` ones of an earlier answer, only the
 * text around them is parsed.
 *
 * @throws SyntaxError
 */
export function sliceUnlessKnown(text: string, known: RowsSum | undefined): SummedEnvelope {
  const passed = known === undefined ? undefined : passKnown(text, known)
  if (passed !== undefined) return passed
  const scanner = new RowScanner({ key: 'data' })
  const rows = scanner.readWhole(text)
  const rest = scanner.end()
  const rowsText = text.slice(...scanner.rowsSpan)
  return { rows, sum: sumOf(rowsText, rows.length), rest }
}

export function sumOf(rowsText: string, rows: number): RowsSum {
  return { rows, characters: rowsText.length, sha256: sha256Of(rowsText) }
}

/** The text around known rows is parsed with an empty array in their place: they are valid JSON. */
function passKnown(text: string, known: RowsSum): SummedEnvelope | undefined {
  const begin = text.indexOf('[', text.indexOf('"data"'))
  if (begin < 0) return undefined
  const end = begin + known.characters
  if (sha256Of(text.slice(begin, end)) !== known.sha256) return undefined
  const scanner = new RowScanner({ key: 'data' })
  scanner.write(text.slice(0, begin))
  if (!scanner.isBeforeRows) return undefined
  scanner.write(`[]${text.slice(end)}`)
  return { rows: null, sum: known, rest: scanner.end() }
}

function sha256Of(text: string): string {
  return hash('sha256', text, 'base64')
}

/** An answer that is one row. @throws SyntaxError if it is no object. */
export function sliceWhole(text: string): ServedRow {
  const trimmed = text.trim()
  if (!trimmed.startsWith('{')) throw new SyntaxError('the answer is not an object')
  valueEnd(openValue(), trimmed) // throws for a value that is nested too deep
  return { text: trimmed, value: servedRow(text).value }
}

/**
 * Checks the metadata of an analytics answer: the range in `meta`, if there is one, is the requested
 * one, and a page of users has a `meta`, to say whether it is the last. Otherwise a stale cache, or
 * a platform that silently cuts a wide range, would make days look empty without an error.
 *
 * `path` is path and query of the request; `rest` is the document without its rows.
 * @throws SyntaxError
 */
export function validateMetadata(path: string, rest: unknown): void {
  const { pathname, searchParams } = new URL(path, 'http://platform')
  const meta = fieldOf(rest, 'meta')
  for (const [field, parameter] of RANGE) {
    const claimed = fieldOf(meta, field)
    const asked = searchParams.get(parameter)
    if (typeof claimed !== 'string' || claimed.slice(0, 10) === asked) continue
    const day = claimed.slice(0, 10)
    const shown = isDay(day) ? day : kindOf(claimed)
    throw new SyntaxError(`'meta.${field}' is ${shown}, but ${asked ?? 'none'} was asked for`)
  }
  const isPage = pathname.endsWith('/users') || searchParams.has('limit')
  if (isPage && (typeof meta !== 'object' || meta === null)) {
    throw new SyntaxError("there is no 'meta': is this the last page?")
  }
}

const RANGE = [
  ['start_date', 'startDate'],
  ['end_date', 'endDate'],
] as const

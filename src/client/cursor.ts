import { REDACTED } from '../lib/secrets/known-secrets.ts'
import type { AnswerOrigin } from './http/transport.ts'
import { ContradictionError, shownCursor } from './errors.ts'

/**
 * The cursor that leads to the next page, for an answer that says that there is one. `seen` holds
 * the cursors before it, and then this one.
 *
 * @throws ContradictionError for a cursor that is missing, was repeated, or quotes the credential.
 */
export function nextCursor(next: string | null, seen: Set<string>, origin: AnswerOrigin): string {
  if (next === null) throw contradiction(origin, 'there are more pages, but there is no cursor')
  if (seen.has(next)) {
    const cursor = shownCursor(next)
    throw contradiction(origin, `the cursor ${cursor} was repeated, so the pages would never end`)
  }
  seen.add(next)
  return unredacted(next, origin)
}

/** A cursor as served, which may be a number; null if there is none. */
export function textOf(value: unknown): string | null {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : null
}

/** The cursor. @throws ContradictionError if it quotes the credential: then it is not as served. */
export function unredacted(cursor: string, origin: AnswerOrigin): string {
  if (!cursor.includes(REDACTED)) return cursor
  throw contradiction(origin, 'the next cursor quotes the credential and is not followed')
}

/** The error of an answer. `problem` names no person and no secret. */
export function contradiction(
  { request, requestId }: AnswerOrigin,
  problem: string,
): ContradictionError {
  return new ContradictionError(`GET ${request}: ${problem}`, requestId)
}

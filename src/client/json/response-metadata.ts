import { isDay } from '../../lib/days.ts'
import { kindOf } from '../../lib/json-kind.ts'
import { fieldOf } from './envelope.ts'

/**
 * Holds an analytics answer to what it says of itself: the range that `meta`
 * names is the one that was asked for, and a page of `/users` has a `meta` to say
 * whether it is the last. A stale cache, or a platform that cuts a wide range without a
 * word, would else make days without rows out of days that have them.
 *
 * `path` is path and query as asked; `rest` is the document without its rows.
 * @throws SyntaxError
 */
export function checkClaims(path: string, rest: unknown): void {
  const { pathname, searchParams } = new URL(path, 'http://platform')
  const meta = fieldOf(rest, 'meta')
  for (const [field, parameter] of RANGE) {
    const claimed = fieldOf(meta, field)
    const asked = searchParams.get(parameter)
    if (typeof claimed !== 'string' || claimed.slice(0, 10) === asked) continue
    const day = claimed.slice(0, 10)
    const said = isDay(day) ? day : kindOf(claimed)
    throw new SyntaxError(`'meta.${field}' is ${said}, but ${asked ?? 'none'} was asked for`)
  }
  if (pathname.endsWith('/users') && (typeof meta !== 'object' || meta === null)) {
    throw new SyntaxError("there is no 'meta': is this the last page?")
  }
}

const RANGE = [
  ['start_date', 'startDate'],
  ['end_date', 'endDate'],
] as const

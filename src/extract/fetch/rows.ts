import { isDay, type Day, type DayRange } from '../../lib/days.ts'
import { kindOf } from '../../lib/text.ts'
import {
  ContradictionError,
  fieldOf,
  type AnswerOrigin,
  type ServedRow,
} from '../../client/index.ts'

export function isWithin(day: Day, { first, last }: DayRange): boolean {
  return day >= first && day <= last
}

/** The users on a page of one day. A row without a user counts as a user of its own. */
export function usersOfPage(answer: AnswerOrigin, rows: readonly ServedRow[], day: Day): string[] {
  return rows.map((row, ordinal) => {
    dayOfRow(answer, row, ordinal, { first: day, last: day })
    return entityOf(row)
  })
}

/** The key that a row of `/users` is counted by: its user id, or its text if it has none. */
export function entityOf({ text, value }: ServedRow): string {
  const id = fieldOf(value, 'user_id')
  if (typeof id === 'number' || typeof id === 'boolean') return String(id)
  return typeof id === 'string' && id !== '' ? id : text
}

/** @throws ContradictionError when the row has no day, or one that was not asked for. */
export function dayOfRow(
  answer: AnswerOrigin,
  row: ServedRow,
  ordinal: number,
  range: DayRange,
): Day {
  const date = fieldOf(row.value, 'date')
  if (date === range.first) return range.first // the one day of a page of users
  const day = typeof date === 'string' ? date.slice(0, 10) : ''
  if (!isDay(day)) throw contradiction(answer, ordinal, `'date' is ${kindOf(date)}, not a day`)
  if (!isWithin(day, range)) {
    throw contradiction(answer, ordinal, `'date' is ${day}, which was not requested`)
  }
  return day
}

/** Names the wrong row and the problem, never its content: rows contain personal data. */
function contradiction(answer: AnswerOrigin, ordinal: number, what: string): ContradictionError {
  return new ContradictionError(`GET ${answer.request}: row ${ordinal}: ${what}`, answer.requestId)
}

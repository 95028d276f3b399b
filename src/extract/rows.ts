import { isDay, type Day, type DayRange } from '../core/days.ts'
import {
  ContradictionError,
  fieldOf,
  type AnswerOrigin,
  type RowTaker,
  type ServedRow,
} from '../client/index.ts'
import type { RowSpool } from './row-spool.ts'

/** Takes what an answer says of the days that are due, and passes over those between them. */
export function takerOf(days: readonly Day[], range: DayRange, spool: RowSpool): RowTaker {
  const due = new Set(days)
  let origin: AnswerOrigin = { request: '', requestId: null }
  return {
    begin: (begun) => {
      origin = begun
      spool.clear()
    },
    isWanted: (text) => {
      const day = dayAtFirst(text)
      return day === undefined || due.has(day) || day < range.first || day > range.last
    },
    row: async (row) => {
      const day = dayOfRow(origin, row, range)
      if (due.has(day)) await spool.add(day, row.text)
    },
  }
}

const DATE_FIRST = /^\{\s*"date"\s*:\s*"(?<day>\d{4}-\d\d-\d\d)/

/** The day of a row that begins with it and speaks of no other: it need not be parsed to be passed over. */
function dayAtFirst(text: string): Day | undefined {
  const day = DATE_FIRST.exec(text)?.groups?.['day']
  const isOnly = text.indexOf('date"', text.indexOf('date"') + 1) < 0
  return day !== undefined && isDay(day) && isOnly ? day : undefined
}

/** The users on a page of one day. */
export function usersOfPage(answer: AnswerOrigin, rows: readonly ServedRow[], day: Day): string[] {
  return rows.map((row) => {
    dayOfRow(answer, row, { first: day, last: day })
    const user = userOf(row.value)
    if (user !== null) return user
    throw new ContradictionError(
      `GET ${answer.request}: a row without 'user_id': ${row.text.slice(0, 200)}`,
      answer.requestId,
    )
  })
}

/** The user of a row of `/users`; null when it names none. */
export function userOf(row: unknown): string | null {
  const id = fieldOf(row, 'user_id')
  if (typeof id === 'number') return String(id)
  return typeof id === 'string' && id !== '' ? id : null
}

/** @throws ContradictionError when the row has no day, or one that was not asked for. */
function dayOfRow(answer: AnswerOrigin, row: ServedRow, range: DayRange): Day {
  const date = fieldOf(row.value, 'date')
  if (date === range.first) return range.first // the one day of a page of users
  const day = typeof date === 'string' ? date.slice(0, 10) : ''
  if (!isDay(day)) {
    throw new ContradictionError(
      `GET ${answer.request}: a row without a date: ${row.text.slice(0, 200)}`,
      answer.requestId,
    )
  }
  if (day < range.first || day > range.last) {
    throw new ContradictionError(
      `GET ${answer.request}: a row of ${day}, which was not asked for`,
      answer.requestId,
    )
  }
  return day
}

// The weeks of a case: which there are, which are complete, which are so early
// that who is first seen in them may have been there before.
import { answers, days, isoDay } from './served.mjs'

const DAY = 86_400_000
const RESOURCES = [
  'activity',
  'activity_by_client',
  'productivity',
  'tokens',
  'tokens_by_model',
  'tools',
  'tools_by_name',
  'users',
]

export const lastDay = answers
  .map(({ meta }) => meta.end_date)
  .sort()
  .at(-1)

export function later(day, count) {
  return isoDay(Date.parse(day) + count * DAY)
}

/** Monday of the week of a day. */
export function monday(day) {
  return later(day, -((new Date(day).getUTCDay() + 6) % 7))
}

export function isAnswered(resource, day) {
  return answers.some(
    (answer) =>
      answer.resource === resource && answer.meta.start_date <= day && day <= answer.meta.end_date,
  )
}

/** The last day whose users are known. */
export function lastDayOfUsers() {
  let day = lastDay
  while (!isAnswered('users', day)) day = later(day, -1)
  return day
}

export function isWholeDay(day) {
  return RESOURCES.every((resource) => isAnswered(resource, day))
}

function daysOf(week) {
  return [0, 1, 2, 3, 4, 5, 6].map((n) => later(week, n))
}

const firstAnswered = answers
  .filter(({ resource }) => resource === 'users')
  .map(({ meta }) => meta.start_date)
  .sort()[0]

/** Every week from the first with a row to the last that was asked for. */
export const weeks = weeksFrom(monday(days[0]))

function weeksFrom(first) {
  const found = []
  for (let week = first; week <= lastDay; week = later(week, 7)) {
    found.push({
      week_start_date: week,
      is_complete_week: daysOf(week).every(isWholeDay),
      is_users_known: daysOf(week).some((day) => isAnswered('users', day)),
      is_left_edge: week < later(monday(firstAnswered), 28),
    })
  }
  return found
}

export function isComplete(week) {
  return weeks.find(({ week_start_date }) => week_start_date === week).is_complete_week
}

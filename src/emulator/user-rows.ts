import type { WorkDay } from './calendar.ts'
import { hundredths, spellExponent, spellFraction } from './json.ts'
import { isActive, type Organisation } from './organisation.ts'
import { emailJsonOn, type Person } from './people.ts'
import { entry } from './random.ts'
import { autonomyRatioOf, billableOf, userDayOf, type UserDay } from './user-day.ts'

/** A page of `/users`. */
export interface UserPage {
  /** JSON texts, by user id and then by date. */
  readonly rows: readonly string[]
  readonly hasMore: boolean
  /** The last user of the page, when there are more. */
  readonly nextCursor: string | null
}

export interface UserPageRequest {
  readonly days: readonly WorkDay[]
  /** Users, not rows. */
  readonly limit: number
  /** The place in `people` to begin at. */
  readonly from: number
}

/** Makes the rows of one page and of no other, so a walk is linear whatever the history. */
export function userPage(organisation: Organisation, request: UserPageRequest): UserPage {
  const { days, limit, from } = request
  const { people } = organisation
  const rows: string[] = []
  let users = 0
  let last: string | null = null
  for (let place = from; place < people.length; place += 1) {
    const person = entry(people, place)
    const before = rows.length
    for (const workDay of days) {
      if (!isActive(person, workDay)) continue
      if (users === limit) return { rows, hasMore: true, nextCursor: last }
      rows.push(userRow(person, workDay))
    }
    if (rows.length === before) continue
    users += 1
    last = person.id
  }
  return { rows, hasMore: false, nextCursor: null }
}

/**
 * One row as JSON text. Written by hand: this is the platform's largest answer.
 * A few rows have another key order, number spelling or an unknown field.
 */
export function userRow(person: Person, workDay: WorkDay): string {
  const user = userDayOf(person, workDay)
  const email = emailJsonOn(person, workDay.offset)
  const head = `"user_id":"${person.id}","user_email":${email},"date":"${workDay.day}"`
  const body = `${countsOf(user)},${habitsOf(user, workDay)}`
  const extra = user.key % 16 === 5 ? UNKNOWN_FIELD : ''
  return user.key % 53 === 7 ? `{${body},${head}${extra}}` : `{${head},${body}${extra}}`
}

const UNKNOWN_FIELD = ',"seat":{"plan":"team","add_ons":["review",{"trial":true}]}'

function countsOf(user: UserDay): string {
  const { key, userMessages, assistantMessages } = user
  const calls = key % 251 === 7 ? spellExponent(user.toolCalls) : user.toolCalls
  const sessions = key % 127 === 3 ? spellFraction(user.sessions) : user.sessions
  return (
    `"tool_calls":${calls},"billable_tokens":${hundredths(billableOf(user))},` +
    `"files_created":${user.filesCreated},"files_edited":${user.filesEdited},` +
    `"git_commits":${user.commits},"git_prs_created":${user.pullRequests},` +
    `"mcp_calls":${user.mcpCalls},"skill_calls":${user.skillCalls},` +
    `"slash_commands":${user.slashCommands},"hooks":${user.hooks},"sessions":${sessions},` +
    `"messages":${userMessages + assistantMessages},"user_messages":${userMessages},` +
    `"assistant_messages":${assistantMessages}`
  )
}

function habitsOf(user: UserDay, workDay: WorkDay): string {
  const { delegation, languages } = user
  const { model } = user.spends[0]
  const level = workDay.hasNewFields ? `"delegation_level":"${delegation}",` : ''
  const names = languages.length === 0 ? '' : `"${languages.join('","')}"`
  return (
    `"primary_model":"${model.id}","primary_model_tier":"${model.tier}",` +
    `"autonomy_ratio":${autonomyRatioOf(user)},${level}"languages":[${names}]`
  )
}

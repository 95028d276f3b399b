import type { WorkDay } from './calendar.ts'
import { spellExponent, spellFraction } from './json.ts'
import { emailOn, isActive, type Organisation, type Person } from './people.ts'
import { entry } from './random.ts'
import { userDayOf } from './user-day.ts'

/**
 * The page of `limit` users (not rows) that begins at the place `from` in `people`.
 * Makes the rows of one page and of no other, so that paging is linear whatever the history.
 */
export function userPage(
  { people }: Organisation,
  days: readonly WorkDay[],
  limit: number,
  from: number,
) {
  /** JSON texts as `JSON.stringify` makes them, by user id and then by date. */
  const rows: string[] = []
  const users: string[] = []
  for (let place = from; place < people.length; place += 1) {
    const person = entry(people, place)
    const active = days.filter((workDay) => isActive(person, workDay))
    if (active.length === 0) continue
    if (users.length === limit) return { rows, has_more: true, next_cursor: users.at(-1) ?? null }
    rows.push(...active.map((workDay) => userRow(person, workDay)))
    users.push(person.id)
  }
  return { rows, has_more: false, next_cursor: null }
}

/**
 * One row; a few have another key order, number spelling or an unknown field. Texts are
 * put together, not objects: this is the platform's largest answer.
 */
function userRow(person: Person, workDay: WorkDay): string {
  const user = userDayOf(person, workDay)
  const { key, toolCalls, sessions } = user
  const { model } = user.spends[0]
  const head = JSON.stringify({
    user_id: person.id,
    user_email: emailOn(person, workDay.offset),
    date: workDay.day,
  })
  const body = JSON.stringify({
    tool_calls: key % 251 === 7 ? spellExponent(toolCalls) : toolCalls,
    billable_tokens: user.billable / 100,
    files_created: user.filesCreated,
    files_edited: user.filesEdited,
    git_commits: user.commits,
    git_prs_created: user.pullRequests,
    mcp_calls: user.mcpCalls,
    skill_calls: user.skillCalls,
    slash_commands: user.slashCommands,
    hooks: user.hooks,
    sessions: key % 127 === 3 ? spellFraction(sessions) : sessions,
    messages: user.messages,
    user_messages: user.userMessages,
    assistant_messages: user.assistantMessages,
    primary_model: model.id,
    primary_model_tier: model.tier,
    autonomy_ratio: user.autonomyRatio,
    delegation_level: workDay.hasNewFields ? user.delegation : undefined,
    languages: user.languages,
  })
  const parts = key % 53 === 7 ? [body, head] : [head, body]
  if (key % 16 === 5) parts.push(UNKNOWN_FIELD)
  return `{${parts.map((object) => object.slice(1, -1)).join(',')}}`
}

const UNKNOWN_FIELD = '{"seat":{"plan":"team","add_ons":["review",{"trial":true}]}}'

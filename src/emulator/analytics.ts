import type { Context, Hono } from 'hono'
import { setImmediate } from 'node:timers/promises'
import type { Day, DayRange } from '../lib/days.ts'
import { keptText } from '../lib/json.ts'
import { workDayOf, type WorkDay } from './calendar.ts'
import {
  DAY_RESOURCES,
  type DayResource,
  asciiOf,
  spellExponent,
  spellFraction,
} from './day-rows.ts'
import { remembered, totalsOf, type DayTotals } from './day-totals.ts'
import { emailOn, isActive, openDays, type Organisation, type Person } from './people.ts'
import {
  isGrouped,
  placeAfterCursor,
  rangeOf,
  limitIn,
  type Env,
  type Platform,
} from './requests.ts'
import { entry } from './random.ts'
import { userDayOf } from './user-day.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

/** Adds the analytics. The totals of each day are computed once. */
export function addAnalytics(app: Hono<Env>, { organisation, now }: Platform): void {
  const api = '/api/v1/analytics'
  const totals = remembered((day: Day) =>
    totalsOf(organisation, workDayOf(organisation.firstDay, day)),
  )
  const rangeIn = (context: Context): DayRange => rangeOf(context, organisation.firstDay, now())

  for (const resource of DAY_RESOURCES) {
    app.get(`${api}/${resource.name}`, (context) => {
      const range = rangeIn(context)
      const rowsOf = isGrouped(context, resource.dimension) ? groupRows(resource) : resource.row
      const chunks = dayChunks(organisation, range, totals, rowsOf)
      return context.body(ReadableStream.from(packetsOf(chunks)), 200, JSON_TYPE)
    })
  }
  app.get(`${api}/users`, (context) => {
    const range = rangeIn(context)
    isGrouped(context, null)
    const limit = limitIn(context, 100) ?? 20
    const from = placeAfterCursor(context, organisation)
    const { rows, ...paging } = userPage(organisation, openDays(organisation, range), limit, from)
    const meta = metaOf(organisation, range, paging)
    const body = Buffer.from(asciiOf(`{"data":[${rows.join(',')}],"meta":${meta}}`))
    return context.body(body, 200, JSON_TYPE)
  })
}

function groupRows({ groups }: DayResource): DayResource['row'] {
  return (totals) => {
    const { day } = totals.workDay
    const rows = groups(totals).map(([group_key, metrics]) =>
      keptText({ date: day, group_key, ...metrics }),
    )
    return rows.length === 0 ? [] : [rows.join(',')]
  }
}

function* dayChunks(
  organisation: Organisation,
  range: DayRange,
  totals: (day: Day) => DayTotals,
  rowsOf: DayResource['row'],
): Generator<string> {
  yield '{"data":['
  let isEmpty = true
  for (const { day } of openDays(organisation, range)) {
    let before = isEmpty ? '' : ','
    for (const piece of rowsOf(totals(day), organisation)) {
      yield before + piece
      before = ''
      isEmpty = false
    }
  }
  yield `],"meta":${metaOf(organisation, range)}}`
}

/**
 * The page of `limit` users (not rows) that begins at the place `from` in `people`.
 * Makes only the rows of this page, so that pagination takes linear time.
 */
function userPage({ people }: Organisation, days: readonly WorkDay[], limit: number, from: number) {
  /** JSON texts, by user id and then by date. */
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
 * One row; a few have another key order, number spelling or an unknown field. Concatenates
 * texts instead of objects, because this is the platform's largest response.
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
  const body = keptText({
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

function metaOf({ id }: Organisation, { first, last }: DayRange, paging: object = {}): string {
  return asciiOf(JSON.stringify({ org_id: id, start_date: first, end_date: last, ...paging }))
}

const ENOUGH_CHARACTERS = 65_536
const ENOUGH_MS = 5

/** Makes packets on demand, so that a slow reader uses no memory; in between, other requests are answered. */
async function* packetsOf(chunks: Iterable<string>): AsyncGenerator<Uint8Array> {
  let text = ''
  let until = performance.now() + ENOUGH_MS
  for (const chunk of chunks) {
    text += chunk
    if (text.length < ENOUGH_CHARACTERS && performance.now() < until) continue
    yield Buffer.from(text)
    await setImmediate()
    text = ''
    until = performance.now() + ENOUGH_MS
  }
  yield Buffer.from(text)
}

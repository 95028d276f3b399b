import type { WorkDay } from './calendar.ts'
import { SKILLS, SLASH_COMMANDS, type DelegationLevel, type Model } from './catalogue.ts'
import {
  extensionCounts,
  hookCounts,
  namedCounts,
  ranked,
  serverCounts,
  toolCounts,
  type DayTotals,
  type Spent,
} from './day-totals.ts'
import { activePeople, emailOn, type Organisation } from './people.ts'
import { userDayOf } from './user-day.ts'
import { keptNumber, keptText } from '../lib/json.ts'
import { unicodeEscape } from '../lib/text.ts'

export function spellFraction(value: number): string {
  return keptNumber(`${value}.0`)
}

/** The same whole number with an exponent: 1000 is `1e3`, 12 is `1.2e1`. */
export function spellExponent(value: number): string {
  return keptNumber(value.toExponential().replace('+', ''))
}

/** JSON text with every non-ASCII UTF-16 unit escaped: `Caf\u00e9`. */
export function asciiOf(json: string): string {
  return json.replaceAll(/[^\u0000-\u007f]/g, unicodeEscape)
}

export interface DayResource {
  readonly name: string
  /** The text of a day's row; a long one in pieces. */
  readonly row: (totals: DayTotals, organisation: Organisation) => Iterable<string>
  /** The value of `group_by` that the resource knows. */
  readonly dimension: string | null
  readonly groups: (totals: DayTotals) => readonly (readonly [key: string, metrics: object])[]
}

export const DAY_RESOURCES: readonly DayResource[] = [
  {
    name: 'tokens',
    row: tokenRow,
    dimension: 'model',
    groups: (totals) =>
      totals.models.map(([model, spent]) => [
        model.id,
        tokenFields(spent, surplusOf(totals, model)),
      ]),
  },
  {
    name: 'tools',
    row: (totals) => [toolRow(totals)],
    dimension: 'tool_name',
    groups: (totals) => toolCounts(totals).map(([tool, calls]) => [tool, { tool_calls: calls }]),
  },
  {
    name: 'activity',
    row: (totals) => [activityRow(totals)],
    dimension: 'client',
    groups: ({ clients }) =>
      [...clients].map(([client, users]) => [client, { daily_active_users: users }]),
  },
  {
    name: 'productivity',
    row: (totals) => [productivityRow(totals)],
    dimension: null,
    groups: () => [],
  },
]

function toolRow(totals: DayTotals): string {
  const { workDay, autonomy, sessions, toolCalls, mcpUsers, levels } = totals
  const named = (names: typeof SKILLS, total: number) =>
    namedCounts(totals, total, names).map(([name, count]) => ({ name, count }))
  /** The share of these levels in the tool calls. */
  const share = (...among: DelegationLevel[]): number =>
    ratio(
      among.reduce((sum, level) => sum + levels.of(level), 0),
      toolCalls,
      6,
    )
  const row = dayRow(workDay, {
    tool_calls: toolCalls,
    by_tool: toolCounts(totals).map(([tool, invocations]) => ({ tool, invocations })),
    mcp_users_with_mcp: every(4, workDay) ? spellFraction(mcpUsers) : mcpUsers,
    mcp_by_server: serverCounts(totals).map(([server, invocations]) => ({ server, invocations })),
    skills_invocations: totals.skillCalls,
    skills_by_name: named(SKILLS, totals.skillCalls),
    slash_commands_invocations: totals.slashCommands,
    slash_commands_by_name: named(SLASH_COMMANDS, totals.slashCommands),
    hooks_invocations: totals.hooks,
    ...(workDay.hasNewFields ? { hooks_by_event: hookCounts(totals) } : {}),
    web_users: totals.clients.of('web'),
    autonomy_ratio_avg: ratio(autonomy.average, 1, 4),
    autonomy_ratio_p50: ratio(autonomy.median, 1, 2),
    autonomy_ratio_p90: ratio(autonomy.high, 1, 2),
    tool_calls_per_session_avg: ratio(toolCalls, sessions, 4),
    user_turns_per_session_avg: ratio(totals.userMessages, sessions, 4),
    tool_autonomy_level_ratio: {
      auto_high: share('auto-high'),
      auto_medium: share('auto-medium'),
      auto_low: share('auto-low'),
      // a plan that waits for consent counts as manual
      manual: share('manual', 'spec'),
    },
  })
  return workDay.offset % 2 === 0 ? row : asciiOf(row)
}

function activityRow(totals: DayTotals): string {
  return dayRow(totals.workDay, {
    daily_active_users: totals.activeUsers,
    weekly_active_users: totals.trailingUsers(7),
    monthly_active_users: totals.trailingUsers(30),
    daily_active_users_by_client: Object.fromEntries(totals.clients),
    sessions: totals.sessions,
    messages: totals.messages,
    user_messages: totals.userMessages,
  })
}

function productivityRow(totals: DayTotals): string {
  const { workDay, filesEdited, commits } = totals
  return dayRow(workDay, {
    files_created: totals.filesCreated,
    files_edited: every(9, workDay) ? spellExponent(filesEdited) : filesEdited,
    by_extension: extensionCounts(totals).map(([extension, count]) => ({ extension, count })),
    by_language: ranked(totals.languages).map(([language, count]) => ({ language, count })),
    git_commits: every(5, workDay) ? spellFraction(commits) : commits,
    git_prs_created: totals.pullRequests,
  })
}

/** The day row of `/tokens`, with `by_model` and `by_user`, in pieces. Linear in the people. */
function* tokenRow(totals: DayTotals, organisation: Organisation): Generator<string> {
  const { workDay, spent } = totals
  const surplus = surplusOf(totals)
  const row = dayRow(workDay, {
    ...tokenFields(spent, surplus),
    cache_read_tokens: totals.cacheRead,
    ...(workDay.hasNewFields ? { cache_write_tokens: totals.cacheWrite } : {}),
    by_model: totals.models.map(([model, sums]) =>
      modelItem(model, sums, surplusOf(totals, model)),
    ),
    by_user: [],
  })
  const usersAt = row.indexOf(NO_USERS) + NO_USERS.length - 1
  yield row.slice(0, usersAt)
  for (const [index, person] of activePeople(organisation, workDay).entries()) {
    const { spends, billable } = userDayOf(person, workDay)
    const item = {
      user_id: person.id,
      user_email: emailOn(person, workDay.offset),
      billable_tokens: billable / 100,
      by_model: spends.map((spend, at) =>
        modelItem(spend.model, spend, index + at === 0 ? surplus : 0n),
      ),
    }
    yield (index === 0 ? '' : ',') + asciiOf(keptText(item))
  }
  yield row.slice(usersAt)
}

const NO_USERS = '"by_user":[]'

/** 2^53 + 1: a number that JSON can say and a double cannot hold. */
const HUGE_NUMBER = 9_007_199_254_740_993n

/**
 * On one day the organisation's `input_tokens` is exactly the huge number. The difference is
 * added to the first model of the first user, so that parts still add up.
 */
function surplusOf({ workDay, spent, firstModel }: DayTotals, model = firstModel): bigint {
  const hasIt = workDay.hasHugeNumber && model !== undefined && model === firstModel
  return hasIt ? HUGE_NUMBER - BigInt(spent.input) : 0n
}

function modelItem({ id, tier }: Model, spent: Spent, surplus: bigint) {
  return { model_id: id, model_tier: tier, ...tokenFields(spent, surplus) }
}

function tokenFields({ billable, input, output }: Spent, surplus: bigint) {
  return {
    billable_tokens: billable / 100,
    input_tokens: surplus === 0n ? input : keptNumber(String(BigInt(input) + surplus)),
    output_tokens: output,
  }
}

/**
 * A day row as the platform might spell it: sometimes in another key order,
 * and after some weeks with an undocumented field.
 */
function dayRow(workDay: WorkDay, fields: object): string {
  const row = { date: workDay.day, ...fields, ...(workDay.offset >= 20 ? UNKNOWN_FIELD : {}) }
  return keptText(every(7, workDay) ? Object.fromEntries(Object.entries(row).reverse()) : row)
}

const UNKNOWN_FIELD = {
  preview: {
    cohort: 'b',
    flags: ['early', { depth: 2, ratio: keptNumber('0.1000') }],
    window: keptNumber('1e3'),
  },
}

/** True on one day of `period`, never the first. */
function every(period: number, workDay: WorkDay): boolean {
  return workDay.offset % period === 3
}

/** The ratio with at most `digits` decimals; 0 if `whole` is 0. */
function ratio(part: number, whole: number, digits: number): number {
  return whole === 0 ? 0 : Number((part / whole).toFixed(digits))
}

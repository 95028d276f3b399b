import type { PlatformResponses } from './answers.ts'
import type { JsonObject } from './exact-json.ts'
import { UNATTRIBUTED } from './names.ts'
import { amount, byDay, double, items, sorted, text, texts } from './reading.ts'
import { anyOf, type ExpectedRow, type ExpectedTable, expectedTable } from './table.ts'

const KEY = ['org_id', 'activity_date', 'user_id'] as const

const COUNTS = [
  'tool_calls',
  'billable_tokens',
  'files_created',
  'files_edited',
  'git_commits',
  'git_prs_created',
  'mcp_calls',
  'skill_calls',
  'slash_commands',
  'hooks',
  'sessions',
  'messages',
  'user_messages',
  'assistant_messages',
] as const

const TEXTS = ['primary_model', 'primary_model_tier', 'delegation_level'] as const

interface UserDay {
  readonly userId: string
  readonly day: string
  readonly row: JsonObject
}

/** A user who did or spent something on a day, by /users or by a `by_user` item of /tokens. */
interface Sighting {
  readonly userId: string
  readonly day: string
  readonly email: string | null
}

/** fct_user_day: one row per user and day, the later page's where there are two. */
export function userDays(answers: PlatformResponses): ExpectedTable {
  const rows = servedUserDays(answers).map(({ userId, day, row }) => ({
    org_id: answers.orgId,
    activity_date: day,
    user_id: userId,
    ...Object.fromEntries(COUNTS.map((name) => [name, amount(row, name)])),
    ...Object.fromEntries(TEXTS.map((name) => [name, text(row.get(name))])),
    autonomy_ratio: double(row.get('autonomy_ratio')),
  }))
  return expectedTable([...KEY], [...COUNTS, ...TEXTS, 'autonomy_ratio'], rows)
}

/** fct_user_language_day: each language of a user's day once. */
export function userLanguageDays(answers: PlatformResponses): ExpectedTable {
  const rows = servedUserDays(answers).flatMap(({ userId, day, row }) =>
    sorted(texts(row.get('languages'))).map((language) => ({
      org_id: answers.orgId,
      activity_date: day,
      user_id: userId,
      language,
    })),
  )
  return expectedTable([...KEY, 'language'], [], rows)
}

/**
 * dim_user: everyone in /users or in `by_user` of /tokens. A user is active on
 * the days of their /users rows that count anything; the contract leaves open
 * whether a null e-mail address forgets the one known before.
 */
export function users(answers: PlatformResponses): ExpectedTable {
  const served = servedUserDays(answers)
  const own = groupByUser(served.map(sightingOf))
  const active = groupByUser(served.filter(({ row }) => isActive(row)).map(sightingOf))
  const spending = groupByUser(spendingDays(answers))
  const rows = sorted([...own.keys(), ...spending.keys()]).map((userId) => {
    const ownDays = own.get(userId) ?? []
    const spendingOnly = spending.get(userId) ?? []
    const activeDays = daysOf(active.get(userId) ?? [])
    return {
      user_id: userId,
      user_email: latestEmail(ownDays.length > 0 ? ownDays : spendingOnly),
      first_active_date: activeDays[0] ?? null,
      last_active_date: activeDays.at(-1) ?? null,
    }
  })
  const unattributed: ExpectedRow = { user_id: UNATTRIBUTED, user_email: null }
  return expectedTable(['user_id'], ['user_email', 'first_active_date', 'last_active_date'], rows, [
    unattributed,
  ])
}

function servedUserDays(answers: PlatformResponses): UserDay[] {
  const held = new Map<string, UserDay>()
  for (const row of answers.users) {
    const userId = text(row.get('user_id'))
    const day = text(row.get('date'))
    if (userId !== null && day !== null)
      held.set(JSON.stringify([day, userId]), { userId, day, row })
  }
  return [...held.values()]
}

function spendingDays(answers: PlatformResponses): Sighting[] {
  return [...byDay(answers.tokens)].flatMap(([day, row]) =>
    items(row.get('by_user')).flatMap((item) => {
      const userId = text(item.get('user_id'))
      return userId === null ? [] : [{ userId, day, email: text(item.get('user_email')) }]
    }),
  )
}

function sightingOf({ userId, day, row }: UserDay): Sighting {
  return { userId, day, email: text(row.get('user_email')) }
}

function isActive(row: JsonObject): boolean {
  return COUNTS.some((name) => (amount(row, name) ?? 0n) > 0n)
}

function groupByUser(sightings: readonly Sighting[]): ReadonlyMap<string, Sighting[]> {
  const users = new Map<string, Sighting[]>()
  for (const sighting of sightings) {
    const own = users.get(sighting.userId)
    if (own === undefined) users.set(sighting.userId, [sighting])
    else own.push(sighting)
  }
  return users
}

function daysOf(sightings: readonly Sighting[]): string[] {
  return sorted(sightings.map(({ day }) => day))
}

function latestEmail(sightings: readonly Sighting[]): ReturnType<typeof anyOf> {
  const inOrder = [...sightings].sort((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0))
  const known = inOrder.findLast(({ email }) => email !== null)?.email ?? null
  return anyOf(known, inOrder.at(-1)?.email ?? null)
}

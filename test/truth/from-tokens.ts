import type { PlatformResponses } from './answers.ts'
import type { JsonObject } from './exact-json.ts'
import { UNATTRIBUTED } from './names.ts'
import { amount, byDay, items, rowsByDay, sorted, text } from './reading.ts'
import {
  addUp,
  anyOf,
  type Expected,
  type ExpectedRow,
  type ExpectedTable,
  expectedTable,
  type Part,
  residual,
  sum,
} from './table.ts'

const METRICS = ['billable_tokens', 'input_tokens', 'output_tokens'] as const

/**
 * fct_model_day: the day's `by_model`, or the grouped rows where a day has no
 * `by_model`, and what the day's credits have beyond it as '(unattributed)'.
 */
export function modelDays(answers: PlatformResponses): ExpectedTable {
  const headers = byDay(answers.tokens)
  const grouped = rowsByDay(answers.tokensByModel)
  const rows = sorted([...headers.keys(), ...grouped.keys()]).flatMap((day) =>
    modelsOfDay(headers.get(day), grouped.get(day) ?? []).map((row) => ({
      org_id: answers.orgId,
      activity_date: day,
      ...row,
    })),
  )
  return expectedTable(['org_id', 'activity_date', 'model_id'], ['model_tier', ...METRICS], rows)
}

/**
 * fct_user_model_day: each user's `by_model`; what the user's credits have
 * beyond it is the user's '(unattributed)' model, and what the day's credits
 * have beyond all of that is the '(unattributed)' user's.
 */
export function userModelDays(answers: PlatformResponses): ExpectedTable {
  const rows = [...byDay(answers.tokens)].flatMap(([day, header]) =>
    userModelsOfDay(header).map(({ members, counts }) => ({
      org_id: answers.orgId,
      activity_date: day,
      ...members,
      ...counts,
    })),
  )
  return expectedTable(
    ['org_id', 'activity_date', 'user_id', 'model_id'],
    ['billable_tokens'],
    rows,
  )
}

function modelsOfDay(
  header: JsonObject | undefined,
  grouped: readonly JsonObject[],
): ExpectedRow[] {
  const nested = items(header?.get('by_model'))
  const sources = nested.length > 0 ? nested : grouped
  const name = nested.length > 0 ? 'model_id' : 'group_key'
  const parts = addUp(sources.flatMap((item) => part(item, { model_id: text(item.get(name)) })))
  const rows = parts.map(({ members, counts }) => ({
    ...members,
    ...counts,
    model_tier: tierOf(sources, members['model_id'] ?? ''),
  }))
  return header === undefined ? rows : [...rows, ...unattributedModel(header, parts)]
}

/** A model that is served under several tiers in one day keeps one of them. */
function tierOf(sources: readonly JsonObject[], modelId: string): Expected {
  const own = sources.filter((item) => item.get('model_id') === modelId)
  const tiers = own.map((item) => text(item.get('model_tier'))).filter((tier) => tier !== null)
  return anyOf(...(tiers.length === 0 ? [null] : tiers))
}

/** Credits decide whether there is a residual; its other counts are what is left of theirs. */
function unattributedModel(header: JsonObject, parts: readonly Part[]): ExpectedRow[] {
  const credits = leftOver(header, parts, 'billable_tokens')
  if (credits === null || credits <= 0n) return []
  return [
    {
      model_id: UNATTRIBUTED,
      model_tier: null,
      billable_tokens: credits,
      input_tokens: neverNegative(leftOver(header, parts, 'input_tokens')),
      output_tokens: neverNegative(leftOver(header, parts, 'output_tokens')),
    },
  ]
}

function leftOver(header: JsonObject, parts: readonly Part[], metric: string): bigint | null {
  const total = amount(header, metric)
  return total === null
    ? null
    : total - (sum(parts.map(({ counts }) => counts[metric] ?? null)) ?? 0n)
}

/** The contract does not say how to write that the parts have more than the total. */
function neverNegative(left: bigint | null): Expected {
  return left !== null && left < 0n ? anyOf(left, 0n, null) : left
}

function userModelsOfDay(header: JsonObject): Part[] {
  const known = addUp(items(header.get('by_user')).flatMap(partsOfUser))
  const left = residual(
    amount(header, 'billable_tokens'),
    known.map(({ counts }) => counts['billable_tokens'] ?? null),
  )
  return [...known, ...credits({ user_id: UNATTRIBUTED, model_id: UNATTRIBUTED }, left)]
}

function partsOfUser(user: JsonObject): Part[] {
  const userId = text(user.get('user_id'))
  if (userId === null) return []
  const parts = items(user.get('by_model')).flatMap((model) =>
    part(model, { user_id: userId, model_id: text(model.get('model_id')) }),
  )
  const left = residual(
    amount(user, 'billable_tokens'),
    parts.map(({ counts }) => counts['billable_tokens'] ?? null),
  )
  return [...parts, ...credits({ user_id: userId, model_id: UNATTRIBUTED }, left)]
}

function credits(members: Part['members'], left: bigint | null): Part[] {
  return left === null ? [] : [{ members, counts: { billable_tokens: left } }]
}

/** No part when a member has no name: its counts are then left to the residual. */
function part(item: JsonObject, members: Readonly<Record<string, string | null>>): Part[] {
  const named: Record<string, string> = {}
  for (const [member, name] of Object.entries(members)) {
    if (name === null) return []
    named[member] = name
  }
  const counts: Record<string, bigint | null> = {}
  for (const metric of METRICS) counts[metric] = amount(item, metric)
  return [{ members: named, counts }]
}

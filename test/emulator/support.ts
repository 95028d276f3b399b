import { z } from 'zod'

import type { Emulator, EmulatorOptions } from '../../src/emulator/emulator.ts'
import { standIn } from '../support/stand-in.ts'

/** The last day with data is the day before. */
export const TODAY = '2026-03-20'
export const YESTERDAY = '2026-03-19'

/** A stand-in platform that ends with its test; its clock stands at noon of TODAY. */
export async function start(options: Partial<EmulatorOptions> = {}): Promise<Emulator> {
  const emulator = await standIn({ now: () => Date.parse(`${TODAY}T12:00:00Z`), ...options })
  return emulator
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** Requests an analytics path with a key, the owner's by default. */
export async function ask(
  emulator: Emulator,
  pathAndQuery: string,
  key: string = emulator.keys.owner,
): Promise<Answer> {
  const response = await fetch(`${emulator.url}/api/v1/analytics${pathAndQuery}`, {
    headers: { authorization: `Bearer ${key}` },
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** `startDate=…&endDate=…` of one day or a range. */
export function days(first: string, last: string = first): string {
  return `startDate=${first}&endDate=${last}`
}

export const problemSchema = z.strictObject({
  detail: z.string().min(1),
  status: z.int(),
  title: z.string().min(1),
  metadata: z.object({}),
  requestId: z.string().min(1),
})

/** A whole number; `parseExact` gives one that a double cannot hold as text. */
const count = z.union([z.int().nonnegative(), z.string().regex(/^\d+$/)]).transform(BigInt)

/** Credits, as hundredths. */
const credits = z
  .number()
  .nonnegative()
  .transform((value) => BigInt(Math.round(value * 100)))

const spend = { billable_tokens: credits, input_tokens: count, output_tokens: count }
const modelItem = z.strictObject({ model_id: z.string(), model_tier: z.string(), ...spend })
const counted = z.array(z.object({ count }))

export const tokenRow = z.object({
  date: z.string(),
  ...spend,
  cache_read_tokens: count,
  cache_write_tokens: count.optional(),
  by_model: z.array(modelItem),
  by_user: z.array(
    z.strictObject({
      user_id: z.string(),
      user_email: z.string().nullable(),
      billable_tokens: credits,
      by_model: z.array(modelItem),
    }),
  ),
})

export const groupedTokenRow = z.strictObject({ date: z.string(), group_key: z.string(), ...spend })

export const toolRow = z.object({
  date: z.string(),
  tool_calls: count,
  by_tool: z.array(z.strictObject({ tool: z.string(), invocations: count })),
  mcp_users_with_mcp: count,
  mcp_by_server: z.array(z.strictObject({ server: z.string(), invocations: count })),
  skills_invocations: count,
  skills_by_name: counted,
  slash_commands_invocations: count,
  slash_commands_by_name: counted,
  hooks_invocations: count,
  hooks_by_event: counted.optional(),
  web_users: count,
  autonomy_ratio_avg: z.number(),
  autonomy_ratio_p50: z.number(),
  autonomy_ratio_p90: z.number(),
  tool_calls_per_session_avg: z.number(),
  user_turns_per_session_avg: z.number(),
  tool_autonomy_level_ratio: z.record(z.string(), z.number()),
})

export const groupedToolRow = z.strictObject({
  date: z.string(),
  group_key: z.string(),
  tool_calls: count,
})

export const activityRow = z.object({
  date: z.string(),
  daily_active_users: count,
  weekly_active_users: count,
  monthly_active_users: count,
  daily_active_users_by_client: z.record(z.string(), count),
  sessions: count,
  messages: count,
  user_messages: count,
})

export const groupedActivityRow = z.strictObject({
  date: z.string(),
  group_key: z.string(),
  daily_active_users: count,
})

export const productivityRow = z.object({
  date: z.string(),
  files_created: count,
  files_edited: count,
  by_extension: counted,
  by_language: z.array(z.strictObject({ language: z.string(), count })),
  git_commits: count,
  git_prs_created: count,
})

export const userRow = z.object({
  user_id: z.string(),
  user_email: z.string().nullable(),
  date: z.string(),
  tool_calls: count,
  billable_tokens: credits,
  files_created: count,
  files_edited: count,
  git_commits: count,
  git_prs_created: count,
  mcp_calls: count,
  skill_calls: count,
  slash_commands: count,
  hooks: count,
  sessions: count,
  messages: count,
  user_messages: count,
  assistant_messages: count,
  primary_model: z.string(),
  primary_model_tier: z.enum(['standard', 'thinking']),
  autonomy_ratio: z.number(),
  delegation_level: z.string().optional(),
  languages: z.array(z.string()),
})

export type UserRow = z.infer<typeof userRow>

const metaSchema = z.strictObject({
  org_id: z.string(),
  start_date: z.string(),
  end_date: z.string(),
  has_more: z.boolean().optional(),
  next_cursor: z.string().nullable().optional(),
})

/** A parsed response with status 200. */
export function parse<Row extends z.ZodType>(row: Row, answer: Answer) {
  const schema = z.strictObject({ data: z.array(row), meta: metaSchema })
  return schema.parse(parseExact(answer.text))
}

/** The rows of a day endpoint. */
export async function rowsOf<Row extends z.ZodType>(
  emulator: Emulator,
  row: Row,
  pathAndQuery: string,
) {
  return parse(row, await ask(emulator, pathAndQuery)).data
}

/** All rows of `/users`, page by page. */
export async function allUsers(emulator: Emulator, query: string): Promise<UserRow[]> {
  const rows: UserRow[] = []
  let cursor = ''
  for (;;) {
    const page = parse(userRow, await ask(emulator, `/users?${query}${cursor}`))
    rows.push(...page.data)
    if (page.meta.has_more !== true) return rows
    const next = `&cursor=${page.meta.next_cursor ?? ''}`
    if (next === cursor) throw new Error(`the cursor does not move: ${next}`)
    cursor = next
  }
}

/** JSON with integers beyond 2^53 kept as text. */
function parseExact(text: string): unknown {
  return JSON.parse(text.replaceAll(/:(\d{16,})(?=[,}\]])/g, ':"$1"'))
}

export function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n)
}

/** Items grouped by key, in their order. */
export function groupBy<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group === undefined) groups.set(keyOf(item), [item])
    else group.push(item)
  }
  return groups
}

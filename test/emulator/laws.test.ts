import { beforeAll, describe, expect, it } from 'vitest'
import type { z } from 'zod'

import { startEmulator, type Emulator } from '../../src/emulator/emulator.ts'
import {
  activityRow,
  days,
  groupBy,
  groupedActivityRow,
  groupedTokenRow,
  groupedToolRow,
  productivityRow,
  rowsOf,
  sum,
  TODAY,
  tokenRow,
  toolRow,
  allUsers,
  YESTERDAY,
  type UserRow,
} from './support.ts'

const FIRST_DAY = '2026-01-14'
const EVERYTHING = days(FIRST_DAY, YESTERDAY)

/** All analytics that the platform serves, read once. */
interface Served {
  readonly tokens: z.infer<typeof tokenRow>[]
  readonly tokensByModel: z.infer<typeof groupedTokenRow>[]
  readonly tools: z.infer<typeof toolRow>[]
  readonly toolsByName: z.infer<typeof groupedToolRow>[]
  readonly activity: z.infer<typeof activityRow>[]
  readonly activityByClient: z.infer<typeof groupedActivityRow>[]
  readonly productivity: z.infer<typeof productivityRow>[]
  readonly users: readonly UserRow[]
}

async function readAll(emulator: Emulator): Promise<Served> {
  const grouped = (path: string, dimension: string) => `${path}?${EVERYTHING}&group_by=${dimension}`
  return {
    tokens: await rowsOf(emulator, tokenRow, `/tokens?${EVERYTHING}`),
    tokensByModel: await rowsOf(emulator, groupedTokenRow, grouped('/tokens', 'model')),
    tools: await rowsOf(emulator, toolRow, `/tools?${EVERYTHING}`),
    toolsByName: await rowsOf(emulator, groupedToolRow, grouped('/tools', 'tool_name')),
    activity: await rowsOf(emulator, activityRow, `/activity?${EVERYTHING}`),
    activityByClient: await rowsOf(emulator, groupedActivityRow, grouped('/activity', 'client')),
    productivity: await rowsOf(emulator, productivityRow, `/productivity?${EVERYTHING}`),
    users: await allUsers(emulator, `${EVERYTHING}&limit=100`),
  }
}

describe.each([
  ['a lone user', { users: 1, seed: 3 }],
  ['the default organisation', {}],
  ['a larger organisation', { users: 230, seed: 7 }],
])('every day of %s', (_, options) => {
  let served: Served
  let usersOn: ReadonlyMap<string, readonly UserRow[]>

  beforeAll(async () => {
    const now = () => Date.parse(`${TODAY}T00:00:00Z`)
    const emulator = await startEmulator({ now, ...options })
    served = await readAll(emulator)
    usersOn = groupBy(served.users, (user) => user.date)
    await emulator.close()
    for (const rows of Object.values<readonly object[]>({ ...served }))
      expect(rows.length).toBeGreaterThan(50)
  })

  /** The sum of a metric of `/users` over a day. */
  function ofUsers(date: string, metric: (user: UserRow) => bigint): bigint {
    return sum((usersOn.get(date) ?? []).map(metric))
  }

  it('by_model adds up to the tokens of the day', () => {
    for (const { date, by_model, ...day } of served.tokens) {
      expect([
        date,
        sum(by_model.map((item) => item.billable_tokens)),
        sum(by_model.map((item) => item.input_tokens)),
        sum(by_model.map((item) => item.output_tokens)),
      ]).toEqual([date, day.billable_tokens, day.input_tokens, day.output_tokens])
    }
  })

  it('by_user adds up to the credits of the day, and by_model of a user to the user', () => {
    for (const { date, by_user, billable_tokens } of served.tokens) {
      expect([date, sum(by_user.map((user) => user.billable_tokens))]).toEqual([
        date,
        billable_tokens,
      ])
      for (const user of by_user) {
        expect(sum(user.by_model.map((item) => item.billable_tokens))).toBe(user.billable_tokens)
      }
    }
  })

  it('by_model of all users adds up to by_model of the day', () => {
    for (const { date, by_user, by_model } of served.tokens) {
      const ofModels = groupBy(
        by_user.flatMap((user) => user.by_model),
        (item) => item.model_id,
      )
      expect([date, ofModels.size]).toEqual([date, by_model.length])
      for (const model of by_model) {
        const items = ofModels.get(model.model_id) ?? []
        expect(sum(items.map((item) => item.billable_tokens))).toBe(model.billable_tokens)
        expect(sum(items.map((item) => item.input_tokens))).toBe(model.input_tokens)
        expect(sum(items.map((item) => item.output_tokens))).toBe(model.output_tokens)
      }
    }
  })

  it('by_tool adds up to tool_calls, and the other breakdowns to their totals', () => {
    for (const row of served.tools) {
      const counts = (items: readonly { readonly count: bigint }[] = []) =>
        sum(items.map((item) => item.count))
      expect({
        date: row.date,
        tools: sum(row.by_tool.map((item) => item.invocations)),
        servers: sum(row.mcp_by_server.map((item) => item.invocations)),
        skills: counts(row.skills_by_name),
        commands: counts(row.slash_commands_by_name),
        hooks: row.hooks_by_event === undefined ? undefined : counts(row.hooks_by_event),
      }).toEqual({
        date: row.date,
        tools: row.tool_calls,
        servers: ofUsers(row.date, (user) => user.mcp_calls),
        skills: row.skills_invocations,
        commands: row.slash_commands_invocations,
        hooks: row.hooks_by_event === undefined ? undefined : row.hooks_invocations,
      })
    }
  })

  it('/users adds up to /tokens, /tools, /activity and /productivity', () => {
    const activity = new Map(served.activity.map((row) => [row.date, row]))
    const tokens = new Map(served.tokens.map((row) => [row.date, row]))
    const productivity = new Map(served.productivity.map((row) => [row.date, row]))
    for (const tools of served.tools) {
      const { date } = tools
      const work = productivity.get(date)
      const day = activity.get(date)
      expect({
        billable_tokens: tokens.get(date)?.billable_tokens,
        tool_calls: tools.tool_calls,
        skills: tools.skills_invocations,
        commands: tools.slash_commands_invocations,
        hooks: tools.hooks_invocations,
        mcp_users: tools.mcp_users_with_mcp,
        web_users: tools.web_users,
        users: day?.daily_active_users,
        sessions: day?.sessions,
        messages: day?.messages,
        user_messages: day?.user_messages,
        files_created: work?.files_created,
        files_edited: work?.files_edited,
        git_commits: work?.git_commits,
        git_prs_created: work?.git_prs_created,
      }).toEqual({
        billable_tokens: ofUsers(date, (user) => user.billable_tokens),
        tool_calls: ofUsers(date, (user) => user.tool_calls),
        skills: ofUsers(date, (user) => user.skill_calls),
        commands: ofUsers(date, (user) => user.slash_commands),
        hooks: ofUsers(date, (user) => user.hooks),
        mcp_users: ofUsers(date, (user) => (user.mcp_calls > 0n ? 1n : 0n)),
        web_users: day?.daily_active_users_by_client['web'],
        users: ofUsers(date, () => 1n),
        sessions: ofUsers(date, (user) => user.sessions),
        messages: ofUsers(date, (user) => user.user_messages + user.assistant_messages),
        user_messages: ofUsers(date, (user) => user.user_messages),
        files_created: ofUsers(date, (user) => user.files_created),
        files_edited: ofUsers(date, (user) => user.files_edited),
        git_commits: ofUsers(date, (user) => user.git_commits),
        git_prs_created: ofUsers(date, (user) => user.git_prs_created),
      })
    }
  })

  it('/users and by_user have the same users, addresses and credits', () => {
    for (const { date, by_user } of served.tokens) {
      expect(by_user.map((user) => [user.user_id, user.user_email, user.billable_tokens])).toEqual(
        (usersOn.get(date) ?? []).map((user) => [
          user.user_id,
          user.user_email,
          user.billable_tokens,
        ]),
      )
    }
  })

  it('a user has one row per day, with consistent figures', () => {
    const keys = served.users.map((user) => `${user.user_id} ${user.date}`)
    expect(new Set(keys).size).toBe(keys.length)
    for (const user of served.users) {
      expect(user.messages).toBe(user.user_messages + user.assistant_messages)
      expect(user.mcp_calls).toBeLessThanOrEqual(user.tool_calls)
      expect(user.autonomy_ratio).toBeCloseTo(
        Number(user.tool_calls) / Number(user.user_messages),
        1,
      )
    }
  })

  it('weekly and monthly users are the distinct users of the trailing 7 and 30 days', () => {
    const dates = [...usersOn.keys()].toSorted()
    const distinct = (date: string, window: number): bigint => {
      const from = new Date(Date.parse(date) - (window - 1) * 86_400_000).toISOString().slice(0, 10)
      const inWindow = dates.filter((other) => other >= from && other <= date)
      const ids = inWindow.flatMap((other) => (usersOn.get(other) ?? []).map((u) => u.user_id))
      return BigInt(new Set(ids).size)
    }
    for (const row of served.activity) {
      expect([row.date, row.weekly_active_users, row.monthly_active_users]).toEqual([
        row.date,
        distinct(row.date, 7),
        distinct(row.date, 30),
      ])
    }
  })

  it('daily users lie between the largest client and the sum of the clients', () => {
    for (const row of served.activity) {
      const clients = Object.values(row.daily_active_users_by_client)
      for (const users of clients) expect(users).toBeLessThanOrEqual(row.daily_active_users)
      expect(row.daily_active_users).toBeLessThanOrEqual(sum(clients))
    }
  })

  it('every language of a user is in by_language, which adds up to the files touched', () => {
    for (const row of served.productivity) {
      const languages = new Set(row.by_language.map((item) => item.language))
      for (const user of usersOn.get(row.date) ?? []) {
        for (const language of user.languages) expect(languages).toContain(language)
      }
      const files = row.files_created + row.files_edited
      expect(sum(row.by_language.map((item) => item.count))).toBe(files)
      expect(sum(row.by_extension.map((item) => item.count))).toBe(files)
    }
  })

  it('shares of the autonomy levels add up to one, or to zero without calls', () => {
    for (const row of served.tools) {
      const shares = Object.values(row.tool_autonomy_level_ratio)
      const whole = shares.reduce((total, share) => total + share, 0)
      expect(whole).toBeCloseTo(row.tool_calls === 0n ? 0 : 1, 4)
    }
  })

  it('the grouped forms equal the nested ones, flattened', () => {
    const byModel = served.tokens.flatMap(({ date, by_model }) =>
      by_model.map((item) => ({
        date,
        group_key: item.model_id,
        billable_tokens: item.billable_tokens,
        input_tokens: item.input_tokens,
        output_tokens: item.output_tokens,
      })),
    )
    const byName = served.tools.flatMap(({ date, by_tool }) =>
      by_tool.map(({ tool, invocations }) => ({ date, group_key: tool, tool_calls: invocations })),
    )
    const byClient = served.activity.flatMap(({ date, daily_active_users_by_client }) =>
      Object.entries(daily_active_users_by_client).map(([client, users]) => ({
        date,
        group_key: client,
        daily_active_users: users,
      })),
    )
    expect(served.tokensByModel).toEqual(byModel)
    expect(served.toolsByName).toEqual(byName)
    expect(served.activityByClient).toEqual(byClient)
  })
})

import {
  BUILT_IN_TOOLS,
  CLIENTS,
  EXTENSIONS,
  HOOKS,
  MCP_TOOLS,
  UNPARSED_TOOLS,
  type Client,
  type DelegationLevel,
  type Model,
  type Team,
  type Weights,
} from './catalogue.ts'
import type { WorkDay } from './calendar.ts'
import { activePeople, usersWithin, type Organisation } from './people.ts'
import { apportion, derive, draw, entry } from './random.ts'
import { clientsOf, userDayOf, type Spend, type UserDay } from './user-day.ts'

/** The organisation's day: sums over its people, so that every breakdown adds up. */
export type DayTotals = Readonly<ReturnType<typeof totalsOf>>

class Tally<Key> extends Map<Key, number> {
  add(key: Key, count: number): void {
    this.set(key, this.of(key) + count)
  }

  of(key: Key): number {
    return this.get(key) ?? 0
  }
}

/** The tokens, and the credits in hundredths, of one model or of all. */
export type Spent = Omit<Spend, 'model'>

/** Computes the totals of one day. Linear in the people; the result holds no people. */
export function totalsOf(organisation: Organisation, workDay: WorkDay) {
  const users = activePeople(organisation, workDay).map((person) => userDayOf(person, workDay))
  const sum = (countOf: (user: UserDay) => number): number =>
    users.reduce((total, user) => total + countOf(user), 0)
  const models = new Map<Model, Spent>()
  const teams = new Map<Team, { readonly toolCalls: number; readonly mcpCalls: number }>()
  const clients = new Tally<Client>(CLIENTS.map((client) => [client, 0]))
  const levels = new Tally<DelegationLevel>()
  const languages = new Tally<string>()
  for (const user of users) {
    const { person, spends, toolCalls, mcpCalls, filesCreated, filesEdited } = user
    for (const spend of spends) models.set(spend.model, plus(models.get(spend.model), spend))
    const team = teams.get(person.team)
    teams.set(person.team, {
      toolCalls: (team?.toolCalls ?? 0) + toolCalls,
      mcpCalls: (team?.mcpCalls ?? 0) + mcpCalls,
    })
    for (const client of clientsOf(user)) clients.add(client, 1)
    levels.add(user.delegation, toolCalls)
    // one file to each language, the rest to the favourite
    const others = user.languages.length - 1
    for (const [index, language] of user.languages.entries()) {
      languages.add(language, index === 0 ? filesCreated + filesEdited - others : 1)
    }
  }
  const ratios = users.map((user) => user.autonomyRatio).sort((a, b) => a - b)
  return {
    workDay,
    activeUsers: users.length,
    trailingUsers: trailingUsers(organisation, workDay),
    mcpUsers: users.filter((user) => user.mcpCalls > 0).length,
    sessions: sum((user) => user.sessions),
    userMessages: sum((user) => user.userMessages),
    messages: sum((user) => user.messages),
    toolCalls: sum((user) => user.toolCalls),
    skillCalls: sum((user) => user.skillCalls),
    slashCommands: sum((user) => user.slashCommands),
    hooks: sum((user) => user.hooks),
    filesCreated: sum((user) => user.filesCreated),
    filesEdited: sum((user) => user.filesEdited),
    commits: sum((user) => user.commits),
    pullRequests: sum((user) => user.pullRequests),
    cacheRead: sum((user) => user.cacheRead),
    cacheWrite: sum((user) => user.cacheWrite),
    spent: [...models.values()].reduce(plus, plus()),
    /** Most credits first. */
    models: [...models].sort(
      ([a, spentA], [b, spentB]) => spentB.billable - spentA.billable || (a.id < b.id ? -1 : 1),
    ),
    firstModel: users[0]?.spends[0].model,
    teams,
    clients,
    /** Tool calls made under each level. */
    levels,
    /** Files touched per language; adds up to created plus edited. */
    languages,
    autonomy: {
      average: ratios.reduce((total, value) => total + value, 0) / Math.max(1, ratios.length),
      median: percentile(ratios, 0.5),
      high: percentile(ratios, 0.9),
    },
  }
}

/**
 * Distinct users of the trailing 7 or 30 days, computed once and on demand. A function of its own,
 * because one in `totalsOf` would keep all people of the day.
 */
function trailingUsers(organisation: Organisation, { day }: WorkDay) {
  return remembered((length: 7 | 30) => usersWithin(organisation, day, length))
}

export function remembered<Key, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>()
  return (key) => {
    const value = known.get(key) ?? compute(key)
    known.set(key, value)
    return value
  }
}

const NOTHING: Spent = { billable: 0, input: 0, output: 0 }

function plus(a: Spent = NOTHING, b: Spent = NOTHING): Spent {
  return {
    billable: a.billable + b.billable,
    input: a.input + b.input,
    output: a.output + b.output,
  }
}

/** Nearest rank of an ascending list; 0 of an empty one. */
function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
}

/** A member of a breakdown and its count; never zero. */
type Counted = readonly [name: string, count: number]

/**
 * Invocations per tool. MCP calls are of the tools of the team's servers, and a few others
 * have names that the platform could not parse; the sum is `tool_calls`.
 */
export function toolCounts(totals: DayTotals): Counted[] {
  const { teams, toolCalls, workDay } = totals
  const counts = new Tally<string>()
  for (const [team, calls] of teams) {
    const key = keyOf(totals, team)
    spread(counts, calls.toolCalls - calls.mcpCalls, BUILT_IN_TOOLS, key)
    for (const [server, count] of teamServers(totals, team)) {
      spread(counts, count, MCP_TOOLS[plainName(server)] ?? {}, key)
    }
  }
  const chance = draw(derive(workDay.offset, toolCalls), 0)
  const least = workDay.offset % 7 === 2 ? 1 : 0
  const unparsed = Math.floor(toolCalls * UNPARSED_SHARE + chance) + least
  const taken = Math.min(unparsed, counts.of('Read'))
  const week = Math.floor(workDay.offset / 7)
  counts.add('Read', -taken)
  counts.add(entry(UNPARSED_TOOLS, week % UNPARSED_TOOLS.length), taken)
  return ranked(counts)
}

/** One call in about 17,000 has a name that could not be parsed; at least one every seventh day. */
const UNPARSED_SHARE = 0.00006

/** Invocations per MCP server as each team spells it; the sum is everyone's `mcp_calls`. */
export function serverCounts(totals: DayTotals): Counted[] {
  const counts = new Tally<string>()
  for (const team of totals.teams.keys()) {
    for (const [server, calls] of teamServers(totals, team)) counts.add(server, calls)
  }
  return ranked(counts)
}

/** `total` shared between names by weight and the day's chance (skills, slash commands). */
export function namedCounts({ workDay }: DayTotals, total: number, names: Weights): Counted[] {
  const key = derive(workDay.offset, Object.keys(names).length)
  return ranked(spread(new Tally(), total, names, key))
}

/** Invocations of each hook that ran. */
export function hookCounts({ hooks }: DayTotals): object[] {
  const weights = HOOKS.map(({ weight }) => weight)
  return apportion(hooks, weights).flatMap((count, index) => {
    const { event, matcher, command } = entry(HOOKS, index)
    return count > 0 ? [{ event, matcher, command, count }] : []
  })
}

/** Files touched per extension; the same sum. */
export function extensionCounts({ languages, workDay }: DayTotals): Counted[] {
  const counts = new Tally<string>()
  for (const [language, files] of languages) {
    const names = (EXTENSIONS[language] ?? []).map((name, index) => [name, 4 ** -index] as const)
    spread(counts, files, Object.fromEntries(names), workDay.offset)
  }
  return ranked(counts)
}

function teamServers(totals: DayTotals, team: Team): Tally<string> {
  const weights = team.servers.map((server, index) => [server, 5 - index] as const)
  const calls = totals.teams.get(team)?.mcpCalls ?? 0
  return spread(new Tally(), calls, Object.fromEntries(weights), keyOf(totals, team))
}

function plainName(server: string): string {
  return server.normalize('NFC').trim().toLowerCase()
}

function keyOf({ workDay }: DayTotals, team: Team): number {
  return derive(workDay.offset, team.size)
}

/** Divides `total` between names by weights, which vary with the key. */
function spread(counts: Tally<string>, total: number, names: Weights, key: number): Tally<string> {
  const shaken = Object.values(names).map(
    (weight, index) => weight * (0.6 + 0.8 * draw(key, index)),
  )
  const parts = apportion(total, shaken)
  for (const [index, name] of Object.keys(names).entries()) counts.add(name, parts[index] ?? 0)
  return counts
}

/** Most first, then by name; members without any left out. */
export function ranked(counts: ReadonlyMap<string, number>): Counted[] {
  return [...counts]
    .filter(([, count]) => count > 0)
    .sort(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1))
}

import { CLIENTS, DELEGATION_LEVELS } from './catalogue.ts'
import type { Client, DelegationLevel, Model, Team } from './catalogue.ts'
import type { WorkDay } from './calendar.ts'
import { activePeople, type Organisation } from './organisation.ts'
import { autonomyRatioOf, clientsOf, userDayOf, type Spend, type UserDay } from './user-day.ts'

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

/** The part of a spend that adds up. */
export type ModelSums = Omit<Spend, 'model'>

/** What a team's tool calls were about: the breakdowns follow from these. */
export interface TeamSums {
  readonly toolCalls: number
  readonly mcpCalls: number
}

/** Tool calls per user message, over the people of a day; zeros when there were none. */
export interface AutonomyRatios {
  readonly average: number
  readonly median: number
  /** 90th percentile. */
  readonly high: number
}

const NO_COUNTS = {
  activeUsers: 0,
  mcpUsers: 0,
  sessions: 0,
  userMessages: 0,
  messages: 0,
  toolCalls: 0,
  skillCalls: 0,
  slashCommands: 0,
  hooks: 0,
  filesCreated: 0,
  filesEdited: 0,
  commits: 0,
  pullRequests: 0,
  cacheRead: 0,
  cacheWrite: 0,
}

type Counts = Readonly<typeof NO_COUNTS>

/** The organisation's day: sums over its people, so that every breakdown adds up. */
export interface DayTotals extends Counts {
  readonly workDay: WorkDay
  readonly spend: ModelSums
  readonly models: ReadonlyMap<Model, ModelSums>
  readonly teams: ReadonlyMap<Team, TeamSums>
  readonly clients: ReadonlyMap<Client, number>
  /** Tool calls made under each level. */
  readonly levels: ReadonlyMap<DelegationLevel, number>
  /** Files touched per language; adds up to created plus edited. */
  readonly languages: ReadonlyMap<string, number>
  readonly autonomy: AutonomyRatios
}

/** Adds up one day. Linear in the people; nothing of a single person is kept. */
export function totalsOf(organisation: Organisation, workDay: WorkDay): DayTotals {
  const sums: Mutable<Counts> = { ...NO_COUNTS }
  const models = new Map<Model, Mutable<ModelSums>>()
  const teams = new Map<Team, Mutable<TeamSums>>()
  const clients = new Map<Client, number>(CLIENTS.map((client) => [client, 0]))
  const levels = new Map<DelegationLevel, number>(DELEGATION_LEVELS.map((level) => [level, 0]))
  const languages = new Map<string, number>()
  const spend: Mutable<ModelSums> = { billable: 0, input: 0, output: 0 }
  const ratios: number[] = []

  for (const person of activePeople(organisation, workDay)) {
    const user = userDayOf(person, workDay)
    addCounts(sums, user)
    for (const item of user.spends) {
      addSpend(spend, item)
      addSpend(
        at(models, item.model, () => ({ billable: 0, input: 0, output: 0 })),
        item,
      )
    }
    const team = at(teams, person.team, () => ({ toolCalls: 0, mcpCalls: 0 }))
    team.toolCalls += user.toolCalls
    team.mcpCalls += user.mcpCalls
    for (const client of clientsOf(user)) add(clients, client, 1)
    add(levels, user.delegation, user.toolCalls)
    addLanguages(languages, user)
    ratios.push(autonomyRatioOf(user))
  }
  const autonomy = autonomyOf(ratios)
  return { workDay, ...sums, spend, models, teams, clients, levels, languages, autonomy }
}

function addCounts(sums: Mutable<Counts>, user: UserDay): void {
  sums.activeUsers += 1
  sums.mcpUsers += user.mcpCalls > 0 ? 1 : 0
  sums.sessions += user.sessions
  sums.userMessages += user.userMessages
  sums.messages += user.userMessages + user.assistantMessages
  sums.toolCalls += user.toolCalls
  sums.skillCalls += user.skillCalls
  sums.slashCommands += user.slashCommands
  sums.hooks += user.hooks
  sums.filesCreated += user.filesCreated
  sums.filesEdited += user.filesEdited
  sums.commits += user.commits
  sums.pullRequests += user.pullRequests
  sums.cacheRead += user.cacheRead
  sums.cacheWrite += user.cacheWrite
}

function addSpend(sums: Mutable<ModelSums>, spend: Spend): void {
  sums.billable += spend.billable
  sums.input += spend.input
  sums.output += spend.output
}

/** One file to each language, the rest to the favourite. */
function addLanguages(languages: Map<string, number>, user: UserDay): void {
  const files = user.filesCreated + user.filesEdited
  for (const [index, language] of user.languages.entries()) {
    add(languages, language, index === 0 ? files - user.languages.length + 1 : 1)
  }
}

function autonomyOf(ratios: readonly number[]): AutonomyRatios {
  const sorted = ratios.toSorted((a, b) => a - b)
  return {
    average: sorted.reduce((sum, value) => sum + value, 0) / Math.max(1, sorted.length),
    median: percentile(sorted, 0.5),
    high: percentile(sorted, 0.9),
  }
}

/** Nearest rank of an ascending list; 0 of an empty one. */
function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
}

function add<Key>(sums: Map<Key, number>, key: Key, count: number): void {
  sums.set(key, (sums.get(key) ?? 0) + count)
}

function at<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  const found = map.get(key)
  if (found !== undefined) return found
  const created = create()
  map.set(key, created)
  return created
}

import type { WorkDay } from './calendar.ts'
import { CLIENTS, DELEGATION_LEVELS, FIRST_MODELS, LAUNCHED_MODEL, TEAMS } from './catalogue.ts'
import type { Client, DelegationLevel, Model, Team } from './catalogue.ts'
import type { Person } from './people.ts'
import { createPicker, derive, draw, entry } from './random.ts'

/** What a person spent on one model in one day. */
export interface Spend {
  readonly model: Model
  /** Hundredths of a credit, so that sums are exact. */
  readonly billable: number
  readonly input: number
  readonly output: number
}

/** All that a person did in one day; every figure of the platform is a sum of these. */
export interface UserDay {
  readonly person: Person
  /** The key of every draw about this person on this day. */
  readonly key: number
  readonly sessions: number
  readonly userMessages: number
  readonly assistantMessages: number
  readonly toolCalls: number
  /** Tool calls that went to MCP servers. */
  readonly mcpCalls: number
  readonly skillCalls: number
  readonly slashCommands: number
  readonly hooks: number
  readonly filesCreated: number
  readonly filesEdited: number
  readonly commits: number
  readonly pullRequests: number
  readonly delegation: DelegationLevel
  /** Languages of the files touched; none when no file was. */
  readonly languages: readonly string[]
  readonly cacheRead: number
  readonly cacheWrite: number
  /** At least one; the first is the most used. */
  readonly spends: readonly [Spend, ...Spend[]]
}

/** Streams of `draw`; 1 and 2 belong to the presence of a person (organisation.ts). */
const Draw = {
  intensity: 3,
  sessions: 4,
  turns: 5,
  answers: 6,
  tools: 7,
  mcp: 8,
  skills: 9,
  commands: 10,
  hooks: 11,
  edits: 12,
  creates: 13,
  commits: 14,
  pullRequests: 15,
  delegation: 16,
  languages: 17,
  input: 18,
  output: 19,
  cache: 20,
  models: 21,
  adoption: 22,
  otherModel: 23,
  otherShare: 24,
  client: 30,
} as const

/** A pure function of the person and the day; call it only when `isActive`. */
export function userDayOf(person: Person, workDay: WorkDay): UserDay {
  const key = derive(person.key, workDay.offset)
  const { team } = person
  const drive = person.intensity * (0.5 + draw(key, Draw.intensity))
  const sessions = 1 + Math.floor(team.sessions * drive * draw(key, Draw.sessions))
  const userMessages =
    sessions + Math.floor(sessions * team.turnsPerSession * draw(key, Draw.turns))
  const toolCalls = Math.floor(
    userMessages * team.toolsPerTurn * (0.3 + 1.4 * draw(key, Draw.tools)),
  )
  const filesEdited = Math.floor(toolCalls * team.editsPerTool * 2 * draw(key, Draw.edits))
  const filesCreated = Math.floor(filesEdited * 0.4 * draw(key, Draw.creates))
  const commits = Math.floor(filesEdited * 0.35 * draw(key, Draw.commits))
  const input = Math.floor(
    (userMessages * 900 + toolCalls * 1_800) * (0.6 + 0.8 * draw(key, Draw.input)),
  )
  return {
    person,
    key,
    sessions,
    userMessages,
    assistantMessages: userMessages + Math.floor(userMessages * draw(key, Draw.answers)),
    toolCalls,
    mcpCalls: person.usesMcp ? Math.floor(toolCalls * team.mcpShare * 2 * draw(key, Draw.mcp)) : 0,
    skillCalls: Math.floor(4 * draw(key, Draw.skills) ** 3 * drive),
    slashCommands: Math.floor(6 * draw(key, Draw.commands) ** 2 * drive),
    hooks: Math.floor(toolCalls * 0.3 * draw(key, Draw.hooks)),
    filesCreated,
    filesEdited,
    commits,
    pullRequests: commits === 0 ? 0 : Math.floor(2.2 * draw(key, Draw.pullRequests)),
    delegation: delegationOf(team, draw(key, Draw.delegation)),
    languages: languagesOf(person, key, filesCreated + filesEdited),
    cacheRead: Math.floor(input * (0.3 + 0.5 * draw(key, Draw.cache))),
    cacheWrite: Math.floor(input * 0.12 * draw(key, Draw.cache)),
    spends: spendsOf(person, workDay, key, input),
  }
}

/** Hundredths of a credit of a user's day. */
export function billableOf(user: UserDay): number {
  return user.spends.reduce((sum, spend) => sum + spend.billable, 0)
}

/** Tool calls per user message, two decimals. */
export function autonomyRatioOf(user: UserDay): number {
  return Math.round((user.toolCalls / user.userMessages) * 100) / 100
}

/** The clients used: each by its own chance, the team's likeliest one when chance gave none. */
export function clientsOf({ person: { team }, key }: UserDay): readonly Client[] {
  const used = CLIENTS.filter(
    (_, index) => draw(key, Draw.client + index) < (team.clients[index] ?? 0),
  )
  if (used.length > 0) return used
  return [entry(CLIENTS, team.clients.indexOf(Math.max(...team.clients)))]
}

const PICK_DELEGATION = new Map(TEAMS.map((team) => [team, createPicker(team.delegation)]))

function delegationOf(team: Team, unit: number): DelegationLevel {
  return entry(DELEGATION_LEVELS, PICK_DELEGATION.get(team)?.(unit) ?? 0)
}

function languagesOf({ team }: Person, key: number, files: number): readonly string[] {
  const most = Math.min(files, team.languages.length, 3)
  if (most === 0) return []
  return team.languages.slice(0, 1 + Math.floor(most * draw(key, Draw.languages)))
}

/** What else may be used next to a model. */
const OTHER_MODELS: ReadonlyMap<Model, readonly Model[]> = new Map(
  FIRST_MODELS.map((first) => [first, FIRST_MODELS.filter((model) => model !== first)]),
)

/** The day's tokens shared between one to three models, the most used one first. */
function spendsOf(person: Person, workDay: WorkDay, key: number, input: number): UserDay['spends'] {
  const outputRatio = 0.03 + 0.09 * draw(key, Draw.output)
  const discount = 1 - 0.6 * draw(key, Draw.cache)
  const spend = (model: Model, tokens: number): Spend => {
    const output = Math.floor(tokens * outputRatio)
    const billable = Math.round(100 * model.price * (tokens * discount + 4 * output)) + 1
    return { model, billable, input: tokens, output }
  }
  const first = hasAdopted(person, workDay, key) ? LAUNCHED_MODEL : person.favourite
  const chance = draw(key, Draw.models)
  if (chance < 0.55) return [spend(first, input)]

  const others = OTHER_MODELS.get(first) ?? FIRST_MODELS
  const start = Math.floor(draw(key, Draw.otherModel) * others.length)
  const second = entry(others, start)
  const rest = Math.floor(input * (0.05 + 0.3 * draw(key, Draw.otherShare)))
  const most = spend(first, input - rest)
  if (chance < 0.88) return [most, spend(second, rest)]

  const third = entry(others, (start + 1) % others.length)
  const least = Math.floor(rest * 0.3)
  return [most, spend(second, rest - least), spend(third, least)]
}

/** More and more people of a day take the launched model, at most half of them. */
function hasAdopted(person: Person, { sinceLaunch }: WorkDay, key: number): boolean {
  if (sinceLaunch < 0) return false
  const keenness = draw(person.key, Draw.adoption)
  const reach = Math.min(0.5, 0.08 + sinceLaunch / 120)
  return keenness < reach && draw(key, Draw.adoption) < 0.8
}

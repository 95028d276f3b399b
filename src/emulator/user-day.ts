import type { WorkDay } from './calendar.ts'
import {
  CLIENTS,
  DELEGATION_LEVELS,
  FIRST_MODELS,
  LAUNCHED_MODEL,
  TEAMS,
  type Client,
  type Model,
} from './catalogue.ts'
import type { Person } from './people.ts'
import { createPicker, derive, draw, entry } from './random.ts'

/** A person's usage of one model on one day. */
export interface Spend {
  readonly model: Model
  /** Hundredths of a credit, so that sums are exact. */
  readonly billable: number
  readonly input: number
  readonly output: number
}

/** Streams of `draw`; 1 and 2 belong to the presence of a person (people.ts). */
// prettier-ignore
const Draw = {
  intensity: 3, sessions: 4, turns: 5, answers: 6, tools: 7, mcp: 8, skills: 9, commands: 10,
  hooks: 11, edits: 12, creates: 13, commits: 14, pullRequests: 15, delegation: 16, languages: 17,
  input: 18, output: 19, cache: 20, models: 21, adoption: 22, otherModel: 23, otherShare: 24,
  client: 30,
} as const

/** A person's activity on one day; every figure of the platform is a sum of these. */
export type UserDay = Readonly<ReturnType<typeof userDayOf>>

/** A pure function of the person and the day; call it only when `isActive`. */
export function userDayOf(person: Person, workDay: WorkDay) {
  const { team } = person
  const key = derive(person.key, workDay.offset)
  const drive = person.intensity * (0.5 + draw(key, Draw.intensity))
  /** A whole number below `most`, by the draw of that name. */
  const upTo = (most: number, stream: number): number => Math.floor(most * draw(key, stream))
  const sessions = 1 + upTo(team.sessions * drive, Draw.sessions)
  const userMessages = sessions + upTo(sessions * team.turnsPerSession, Draw.turns)
  const assistantMessages = userMessages + upTo(userMessages, Draw.answers)
  const toolCalls = Math.floor(
    userMessages * team.toolsPerTurn * (0.3 + 1.4 * draw(key, Draw.tools)),
  )
  const filesEdited = upTo(toolCalls * team.editsPerTool * 2, Draw.edits)
  const filesCreated = upTo(filesEdited * 0.4, Draw.creates)
  const commits = upTo(filesEdited * 0.35, Draw.commits)
  const factor = person.factors.get(workDay.offset) ?? 1
  const input = Math.floor(
    (userMessages * 900 + toolCalls * 1_800) * (0.6 + 0.8 * draw(key, Draw.input)) * factor,
  )
  const spends = spendsOf(person, workDay, key, input)
  return {
    person,
    /** The key of every random draw for this person on this day. */
    key,
    sessions,
    userMessages,
    assistantMessages,
    messages: userMessages + assistantMessages,
    toolCalls,
    /** Tool calls that went to MCP servers. */
    mcpCalls: person.usesMcp ? upTo(toolCalls * team.mcpShare * 2, Draw.mcp) : 0,
    skillCalls: Math.floor(4 * draw(key, Draw.skills) ** 3 * drive),
    slashCommands: Math.floor(6 * draw(key, Draw.commands) ** 2 * drive),
    hooks: upTo(toolCalls * 0.3, Draw.hooks),
    filesCreated,
    filesEdited,
    commits,
    pullRequests: commits === 0 ? 0 : upTo(2.2, Draw.pullRequests),
    delegation: entry(
      DELEGATION_LEVELS,
      PICK_DELEGATION.get(team)?.(draw(key, Draw.delegation)) ?? 0,
    ),
    languages: languagesOf(person, key, filesCreated + filesEdited),
    cacheRead: Math.floor(input * (0.3 + 0.5 * draw(key, Draw.cache))),
    cacheWrite: upTo(input * 0.12, Draw.cache),
    /** At least one; the first is the most used. */
    spends,
    /** Hundredths of a credit. */
    billable: spends.reduce((sum, spend) => sum + spend.billable, 0),
    /** Tool calls per user message, two decimals. */
    autonomyRatio: Math.round((toolCalls / userMessages) * 100) / 100,
  }
}

/** The used clients, each with its own chance; if that gives none, the team's most likely one. */
export function clientsOf({ person: { team }, key }: UserDay): readonly Client[] {
  const used = CLIENTS.filter(
    (_, index) => draw(key, Draw.client + index) < (team.clients[index] ?? 0),
  )
  if (used.length > 0) return used
  return [entry(CLIENTS, team.clients.indexOf(Math.max(...team.clients)))]
}

const PICK_DELEGATION = new Map(TEAMS.map((team) => [team, createPicker(team.delegation)]))

function languagesOf({ team }: Person, key: number, files: number): readonly string[] {
  const most = Math.min(files, team.languages.length, 3)
  if (most === 0) return []
  return team.languages.slice(0, 1 + Math.floor(most * draw(key, Draw.languages)))
}

const OTHER_MODELS: ReadonlyMap<Model, readonly Model[]> = new Map(
  FIRST_MODELS.map((first) => [first, FIRST_MODELS.filter((model) => model !== first)]),
)

/** The day's tokens shared between one to three models, the most used one first. */
function spendsOf(
  person: Person,
  workDay: WorkDay,
  key: number,
  input: number,
): readonly [Spend, ...Spend[]] {
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

/** A growing share of people, at most half, use the launched model. */
function hasAdopted(person: Person, { sinceLaunch }: WorkDay, key: number): boolean {
  if (sinceLaunch < 0) return false
  const keenness = draw(person.key, Draw.adoption)
  const reach = Math.min(0.5, 0.08 + sinceLaunch / 120)
  return keenness < reach && draw(key, Draw.adoption) < 0.8
}

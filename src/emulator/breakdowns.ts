import type { DayTotals } from './day-totals.ts'
import { BUILT_IN_TOOLS, EXTENSIONS, HOOKS, MCP_TOOLS, UNPARSED_TOOLS } from './catalogue.ts'
import type { Hook, Team, Weighted } from './catalogue.ts'
import { apportion, derive, draw, entry } from './random.ts'

/** A member of a breakdown and its count; never zero. */
export type Counted = readonly [name: string, count: number]

/**
 * Invocations per tool. MCP calls go to the tools of the team's servers, a few
 * of the rest to names that the platform could not parse; the sum is `tool_calls`.
 */
export function toolCounts(totals: DayTotals): Counted[] {
  const counts = new Map<string, number>()
  for (const [team, sums] of totals.teams) {
    spread(counts, sums.toolCalls - sums.mcpCalls, BUILT_IN_TOOLS, seedOf(totals, team))
    for (const [server, calls] of teamServers(totals, team, sums.mcpCalls)) {
      spread(counts, calls, MCP_TOOLS[plainName(server)] ?? [], seedOf(totals, team))
    }
  }
  takeUnparsed(counts, totals)
  return ranked(counts)
}

/** Invocations per MCP server as each team spells it; the sum is everyone's `mcp_calls`. */
export function serverCounts(totals: DayTotals): Counted[] {
  const counts = new Map<string, number>()
  for (const [team, sums] of totals.teams) {
    for (const [server, calls] of teamServers(totals, team, sums.mcpCalls)) {
      add(counts, server, calls)
    }
  }
  return ranked(counts)
}

/** `total` shared between names by weight and the day's chance (skills, slash commands). */
export function namedCounts(
  totals: DayTotals,
  total: number,
  names: readonly Weighted[],
): Counted[] {
  const counts = new Map<string, number>()
  spread(counts, total, names, derive(totals.workDay.offset, names.length))
  return ranked(counts)
}

/** Invocations of each hook that ran. */
export function hookCounts(totals: DayTotals): (readonly [Hook, number])[] {
  const parts = apportion(
    totals.hooks,
    HOOKS.map((hook) => hook.weight),
  )
  return HOOKS.flatMap((hook, index) => {
    const count = parts[index] ?? 0
    return count > 0 ? [[hook, count] as const] : []
  })
}

/** Files touched per language; the sum is created plus edited. */
export function languageCounts(totals: DayTotals): Counted[] {
  return ranked(totals.languages)
}

/** Files touched per extension; the same sum. */
export function extensionCounts(totals: DayTotals): Counted[] {
  const counts = new Map<string, number>()
  for (const [language, files] of totals.languages) {
    const names = EXTENSIONS[language] ?? []
    const extensions = names.map((name, index) => [name, 4 ** -index] as const)
    spread(counts, files, extensions, totals.workDay.offset)
  }
  return ranked(counts)
}

/** One call in about 17,000 has a name that could not be parsed; at least one every seventh day. */
const UNPARSED_SHARE = 0.00006

function takeUnparsed(counts: Map<string, number>, totals: DayTotals): void {
  const { offset } = totals.workDay
  const chance = draw(derive(offset, totals.toolCalls), 0)
  const due = Math.floor(totals.toolCalls * UNPARSED_SHARE + chance) + (offset % 7 === 2 ? 1 : 0)
  const reads = counts.get('Read') ?? 0
  const taken = Math.min(due, reads)
  const name = entry(UNPARSED_TOOLS, Math.floor(offset / 7) % UNPARSED_TOOLS.length)
  add(counts, name, taken)
  counts.set('Read', reads - taken)
}

function teamServers(totals: DayTotals, team: Team, calls: number): Counted[] {
  const counts = new Map<string, number>()
  const weighted = team.servers.map((server, index) => [server, 5 - index] as const)
  spread(counts, calls, weighted, seedOf(totals, team))
  return [...counts]
}

/** The plain name behind a spelling: what the variants have in common. */
function plainName(server: string): string {
  return server.normalize('NFC').trim().toLowerCase()
}

function seedOf(totals: DayTotals, team: Team): number {
  return derive(totals.workDay.offset, team.size)
}

/** Shares `total` between names by weight, each weight shaken by the key. */
function spread(
  counts: Map<string, number>,
  total: number,
  names: readonly Weighted[],
  key: number,
): void {
  const weights = names.map(([, weight], index) => weight * (0.6 + 0.8 * draw(key, index)))
  for (const [index, part] of apportion(total, weights).entries()) {
    add(counts, entry(names, index)[0], part)
  }
}

function add(counts: Map<string, number>, name: string, count: number): void {
  counts.set(name, (counts.get(name) ?? 0) + count)
}

/** Most first, then by name; members without any left out. */
function ranked(counts: ReadonlyMap<string, number>): Counted[] {
  return [...counts]
    .filter(([, count]) => count > 0)
    .sort(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1))
}

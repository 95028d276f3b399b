import { MS_PER_DAY } from '../../lib/days.ts'
import { join } from 'node:path'
import { UsageError } from '../../lib/errors.ts'
import type { Row } from '../../lib/duckdb.ts'
import { readIfThere } from '../../lib/files.ts'
import type { MessageId } from './context.ts'
import { askLake, textIn, type LakeOf } from './known.ts'

/** A session to ask for, and the computer to ask directly. */
export interface Candidate {
  readonly sessionId: string
  readonly computerId?: string
}

export interface MessageCandidate extends MessageId {
  readonly computerId?: string
}

/** What is known of a session or a message since it was last served. Times are milliseconds since the epoch. */
export interface LastSeen {
  readonly fetchedAt: number
  /** Null where it did not say. */
  readonly updatedAt: number | null
  /** Of a session; null where it did not say. */
  readonly status: string | null
  /** Sessions that it named as its children. */
  readonly children: readonly string[]
}

const WEEK_MS = 7 * MS_PER_DAY

/** Whether it may have changed since: it was under way, or was changed within a week before. */
function isDue(seen: LastSeen | undefined): boolean {
  if (seen === undefined || (seen.status !== null && seen.status !== 'idle')) return true
  return seen.updatedAt === null || seen.fetchedAt - seen.updatedAt <= WEEK_MS
}

/** Whether an id was asked for in vain often enough. */
export type IsGivenUp = (id: string) => boolean

/** The sessions that are named, due or not, then all others that are due. */
export async function sessionsToAsk(
  lake: LakeOf,
  seen: ReadonlyMap<string, LastSeen>,
  named: readonly string[],
  isGivenUp: IsGivenUp,
): Promise<Candidate[]> {
  const candidates = await sessionCandidates(lake, seen)
  const others = candidates.filter(({ sessionId }) => !named.includes(sessionId))
  return [
    ...eachOnce(named.map((sessionId) => ({ sessionId }))),
    ...dueSessions(others, seen, isGivenUp),
  ]
}

/** Those that never landed first, then those that were fetched the longest ago. */
export function dueSessions(
  candidates: readonly Candidate[],
  seen: ReadonlyMap<string, LastSeen>,
  isGivenUp: IsGivenUp,
): Candidate[] {
  return candidates
    .filter(({ sessionId }) => isDue(seen.get(sessionId)) && !isGivenUp(sessionId))
    .toSorted((a, b) => fetchedAt(seen, a.sessionId) - fetchedAt(seen, b.sessionId))
}

/** The messages that are named, due or not, then all others that are due, by their keys. */
export async function messagesToAsk(
  lake: LakeOf,
  named: readonly MessageId[],
  isGivenUp: IsGivenUp,
): Promise<ReadonlyMap<string, MessageCandidate>> {
  const seen = await seenMessages(lake)
  const due = (await messageCandidates(lake))
    .map((each) => [messageKey(each), each] as const)
    .filter(([key]) => isDue(seen.get(key)) && !isGivenUp(key))
    .toSorted(([a], [b]) => fetchedAt(seen, a) - fetchedAt(seen, b))
  const forced = new Map(named.map((each) => [messageKey(each), each]))
  return new Map<string, MessageCandidate>([...forced, ...due.filter(([key]) => !forced.has(key))])
}

function fetchedAt(seen: ReadonlyMap<string, LastSeen>, id: string): number {
  return seen.get(id)?.fetchedAt ?? 0
}

/** Every session that any resource names, each once; the user's own list first. */
async function sessionCandidates(
  lake: LakeOf,
  seen: ReadonlyMap<string, LastSeen>,
): Promise<Candidate[]> {
  const listed = await readSeed(lake.dataFolder, 'sessions', ['session_id'])
  const hooks = await askLake(lake, 'hook_events', 'hook_sessions')
  const installs = await askLake(lake, 'computers', 'install_sessions')
  const candidates = [
    ...listed.map(({ session_id: sessionId = '', computer_id: computerId }) => ({
      sessionId,
      ...(computerId === undefined ? {} : { computerId }),
    })),
    ...[...hooks, ...installs].map((row) => ({ sessionId: textIn(row, 'session_id') })),
    ...[...seen].flatMap(([sessionId, { children }]) =>
      [sessionId, ...children].map((id) => ({ sessionId: id })),
    ),
  ]
  return eachOnce(candidates)
}

/** The first of those with one id, without what is no id. */
export function eachOnce(candidates: readonly Candidate[]): Candidate[] {
  const once = new Map<string, Candidate>()
  for (const each of candidates) {
    if (isId(each.sessionId) && !once.has(each.sessionId)) once.set(each.sessionId, each)
  }
  return [...once.values()]
}

/** Every message of the user's own list, each once. */
async function messageCandidates(lake: LakeOf): Promise<MessageCandidate[]> {
  const rows = await readSeed(lake.dataFolder, 'messages', ['session_id', 'message_id'])
  const listed = rows.map(({ session_id = '', message_id = '', computer_id: computerId }) => ({
    sessionId: session_id,
    messageId: message_id,
    ...(computerId === undefined ? {} : { computerId }),
  }))
  return listed.filter(({ sessionId, messageId }) => isId(sessionId) && isId(messageId))
}

export async function seenSessions(lake: LakeOf): Promise<Map<string, LastSeen>> {
  const rows = await askLake(lake, 'sessions', 'known_sessions')
  return new Map(rows.map((row) => [textIn(row, 'session_id'), lastSeen(row)]))
}

async function seenMessages(lake: LakeOf): Promise<Map<string, LastSeen>> {
  const rows = await askLake(lake, 'messages', 'known_messages')
  return new Map(
    rows.map((row) => [
      messageKey({ sessionId: textIn(row, 'session_id'), messageId: textIn(row, 'message_id') }),
      lastSeen(row),
    ]),
  )
}

/** As `--message` takes it: `<session id>/<message id>`. */
export function messageKey({ sessionId, messageId }: MessageId): string {
  return `${sessionId}/${messageId}`
}

function lastSeen(row: Row): LastSeen {
  const { updated_ms: updated = null, status = null, children } = row
  return {
    fetchedAt: Number(row['fetched_ms']),
    updatedAt: updated === null ? null : Number(updated),
    status: typeof status === 'string' ? status : null,
    children: Array.isArray(children) ? children.map(String) : [],
  }
}

/** What would make no path of its own is no id. */
export function isId(id: unknown): id is string {
  if (typeof id !== 'string') return false
  return id.trim() !== '' && id !== '.' && id !== '..' && id.length <= 200
}

/**
 * A file of ids among the user's own lookups: plain values separated by commas,
 * a header that names the columns.
 *
 * @throws UsageError for a header without the columns, and for a row of another length.
 */
async function readSeed(
  dataFolder: string,
  name: string,
  required: readonly string[],
): Promise<Partial<Record<string, string>>[]> {
  const path = join(dataFolder, 'seeds', `${name}.csv`)
  const text = await readIfThere(path)
  if (text === undefined) return []
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  const header = cellsOf(lines[0] ?? '')
  const columns = [...required, 'computer_id']
  const lacking = required.find((column) => !header.includes(column))
  const strange = header.find((column) => !columns.includes(column))
  if (lacking !== undefined || strange !== undefined) {
    const what = lacking === undefined ? `an unknown column '${strange}'` : `no column '${lacking}'`
    throw new UsageError(`${path}:1: there is ${what}`, {
      hint: `Its columns are ${columns.join(', ')}; the last may be left out.`,
    })
  }
  return lines.slice(1).flatMap((line, index) => {
    if (line.trim() === '') return []
    const cells = cellsOf(line)
    if (cells.length !== header.length) {
      throw new UsageError(
        `${path}:${index + 2}: ${cells.length} values in ${header.length} columns`,
      )
    }
    const filled = header.map((column, at) => [column, cells[at]] as const)
    return [Object.fromEntries(filled.filter(([, cell]) => cell !== ''))]
  })
}

function cellsOf(line: string): string[] {
  return line.split(',').map((cell) => cell.trim().replace(/^"(.*)"$/, '$1'))
}

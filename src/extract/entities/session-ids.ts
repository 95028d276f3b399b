import { MS_PER_DAY, type Day } from '../../lib/days.ts'
import { join } from 'node:path'
import { atLine, readCsv } from '../../lib/csv.ts'
import { UsageError } from '../../lib/errors.ts'
import { readIfThere } from '../../lib/files.ts'
import type { Lake } from '../land/raw-writer.ts'
import { placeOf } from '../plan/sync-plan.ts'
import { askLake, textIn, type EntitySelection } from './context.ts'

export type SessionResource = 'sessions' | 'messages'

/** A session or a message to request, and optionally the computer to ask directly. */
export interface Candidate {
  readonly sessionId: string
  readonly messageId?: string
  readonly computerId?: string
  /** When its first recorded hook event was, in milliseconds since the epoch. */
  readonly beganAt?: number
}

/** As `--session` and `--message` take it: `<session id>`, `<session id>/<message id>`. */
export function idOf({ sessionId, messageId }: Candidate): string {
  return messageId === undefined ? sessionId : `${sessionId}/${messageId}`
}

/** The last known state of a session or message. Times are milliseconds since the epoch. */
interface LastSeen {
  readonly fetchedAt: number
  /** Null if the item had none. */
  readonly updatedAt: number | null
  /** The status of a session; null if it had none. */
  readonly status: string | null
  /** Sessions that it named as its children. */
  readonly children: readonly string[]
}

type AllSeen = ReadonlyMap<string, LastSeen>

export async function allSeen(lake: Lake, resource: SessionResource): Promise<AllSeen> {
  const rows = await askLake(lake, resource, `known_${resource}`)
  return new Map(
    rows.map((row) => {
      const { updated_ms: updated = null, status = null, children } = row
      const lastSeen = {
        fetchedAt: Number(row['fetched_ms']),
        updatedAt: updated === null ? null : Number(updated),
        status: typeof status === 'string' ? status : null,
        children: Array.isArray(children) ? children.map(String) : [],
      }
      return [idOf(idsIn(resource, (column) => textIn(row, column))), lastSeen]
    }),
  )
}

function idsIn(resource: SessionResource, textOf: (column: string) => string): Candidate {
  const sessionId = textOf('session_id')
  return resource === 'sessions' ? { sessionId } : { sessionId, messageId: textOf('message_id') }
}

const WEEK_MS = 7 * MS_PER_DAY

/** Whether it may have changed: it was not idle, or had changed in the week before the fetch. */
function mayHaveChanged(seen: LastSeen | undefined): boolean {
  if (seen === undefined || (seen.status !== null && seen.status !== 'idle')) return true
  return seen.updatedAt === null || seen.fetchedAt - seen.updatedAt <= WEEK_MS
}

/** Whether the platform may remove it before the next night. */
type IsRemovedSoon = (candidate: Candidate) => boolean

/** A night may be late, and it is not documented when on its last day a session is removed. */
const SOON_MS = 2 * MS_PER_DAY
const GRACE_MS = MS_PER_DAY

/**
 * Which candidates go before the next night, by the retention of the settings; none where they have
 * none. A session is as old as its last update, or before its first fetch as its first hook event.
 * Those that must be gone already are left out, because they would take the place of others.
 */
export function removedSoon(
  retentionDays: number | null,
  seen: AllSeen,
  now: number,
): IsRemovedSoon {
  return (candidate) => {
    const since = seen.get(idOf(candidate))?.updatedAt ?? candidate.beganAt
    if (retentionDays === null || since === undefined) return false
    const left = since + retentionDays * MS_PER_DAY - now
    return left > -GRACE_MS && left <= SOON_MS
  }
}

/** For how many days the latest known settings keep sessions; null where they do not say. */
export async function retentionDays(lake: Lake): Promise<number | null> {
  const [row] = await askLake(lake, 'enterprise_controls', 'session_retention')
  const days = Number(row?.['days'] ?? NaN)
  return days > 0 ? days : null
}

/** Whether the platform failed to serve an id on so many nights that it is not requested today. */
export type IsWaiting = (id: string) => boolean

/** The sessions or messages named on the command line. */
export function namedIn(selection: EntitySelection, resource: SessionResource): Candidate[] {
  if (resource === 'messages') return [...selection.messages]
  return selection.sessions.map((sessionId) => ({ sessionId }))
}

/** What decides which candidates are due, and in which order. */
interface DueRule {
  readonly seen: AllSeen
  readonly isWaiting: IsWaiting
  readonly isRemovedSoon?: IsRemovedSoon
  /** The day of a run after one that failed. */
  readonly dayAfterFailure?: Day | undefined
}

/** The named items, due or not, followed by all others that are due. */
export async function candidatesToAsk(
  lake: Lake,
  resource: SessionResource,
  named: readonly Candidate[],
  rule: DueRule,
): Promise<Candidate[]> {
  const all = await candidates(lake, resource, rule.seen)
  const namedIds = new Set(named.map(idOf))
  const others = all.filter((candidate) => !namedIds.has(idOf(candidate)))
  return [...eachOnce(named), ...dueOf(others, rule)]
}

/**
 * The due candidates: first what is removed before the next night, then what never landed, then
 * the least recently fetched. After a run that failed, the last two begin at another place each night,
 * so that items that keep failing never keep the others from being requested.
 */
export function dueOf(
  candidates: readonly Candidate[],
  { seen, isWaiting, isRemovedSoon = () => false, dayAfterFailure }: DueRule,
): Candidate[] {
  const fetchedAt = (candidate: Candidate): number => seen.get(idOf(candidate))?.fetchedAt ?? 0
  const due = eachOnce(candidates)
    .filter((each) => mayHaveChanged(seen.get(idOf(each))) && !isWaiting(idOf(each)))
    .toSorted((a, b) => fetchedAt(a) - fetchedAt(b))
  const others = due.filter((each) => !isRemovedSoon(each))
  const at = dayAfterFailure === undefined ? 0 : placeOf(dayAfterFailure, others.length)
  return [...due.filter(isRemovedSoon), ...others.slice(at), ...others.slice(0, at)]
}

/** The user's own list first, then every session that any resource names. */
async function candidates(
  lake: Lake,
  resource: SessionResource,
  seen: AllSeen,
): Promise<Candidate[]> {
  const listed = await readSeed(lake.dataFolder, resource)
  if (resource === 'messages') return listed
  const hooks = await askLake(lake, 'hook_events', 'hook_sessions')
  const installs = await askLake(lake, 'computers', 'install_sessions')
  const recorded = hooks.map((row): Candidate => {
    const { began_ms: began = null } = row
    return {
      sessionId: textIn(row, 'session_id'),
      ...(began === null ? {} : { beganAt: Number(began) }),
    }
  })
  const installed = installs.map((row) => textIn(row, 'session_id'))
  const known = [...seen].flatMap(([id, { children }]) => [id, ...children])
  const others = [...installed, ...known].map((sessionId) => ({ sessionId }))
  return [...listed, ...recorded, ...others]
}

/** Removes duplicates (the first one stays) and candidates with an invalid id. */
function eachOnce(candidates: readonly Candidate[]): Candidate[] {
  const once = new Map<string, Candidate>()
  for (const each of candidates) {
    const isWhole = isId(each.sessionId) && (each.messageId === undefined || isId(each.messageId))
    if (isWhole && !once.has(idOf(each))) once.set(idOf(each), each)
  }
  return [...once.values()]
}

/** Whether the value can be one segment of a request path. */
export function isId(id: unknown): id is string {
  if (typeof id !== 'string') return false
  return id.trim() !== '' && id !== '.' && id !== '..' && id.length <= 200
}

/**
 * The ids that the user lists, `<data>/seeds/<resource>.csv`.
 *
 * @throws UsageError if the header lacks a column or has another, or a line has other fields.
 */
export async function readSeed(
  dataFolder: string,
  resource: SessionResource,
): Promise<Candidate[]> {
  const path = join(dataFolder, 'seeds', `${resource}.csv`)
  const text = await readIfThere(path)
  if (text === undefined) return []
  const required = resource === 'sessions' ? ['session_id'] : ['session_id', 'message_id']
  const allowed = [...required, 'computer_id']
  const { columns, lines } = readCsv(text, path)
  const lacking = required.find((column) => !columns.includes(column))
  const unknown = columns.find((column) => !allowed.includes(column))
  if (lacking !== undefined || unknown !== undefined) {
    const what = lacking === undefined ? `an unknown column '${unknown}'` : `no column '${lacking}'`
    throw new UsageError(`${path}:1: there is ${what}`, {
      hint: `Its columns are ${allowed.join(', ')}; the last may be left out.`,
    })
  }
  return lines.map(({ number, fields }) => {
    const values = atLine(path, number, fields)
    const { computer_id: computerId = '' } = values
    const ids = idsIn(resource, (column) => values[column] ?? '')
    return computerId === '' ? ids : { ...ids, computerId }
  })
}

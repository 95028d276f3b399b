import { z } from 'zod'
import { messageIds } from './messages.ts'
import { Refusal } from './problems.ts'
import { draw, keyOf, uuidOf } from './random.ts'
import { notFound } from './queries.ts'
import { SECRETS } from './secrets.ts'

const text = z.string()

/** Body of a change of a session: the settings that may be changed, and no token usage. */
export const sessionPatchBody = z.strictObject({
  sessionSettings: z.strictObject({
    model: text.optional(),
    specModeModel: text.optional(),
    providerLockTimestamp: text.optional(),
    assistantActiveTimeMs: z.int().optional(),
    childInclusiveTokenUsageBySessionId: z.record(text, z.unknown()).optional(),
    archivedAt: text.optional(),
    tags: z
      .array(z.object({ name: text, metadata: z.record(text, z.unknown()).optional() }))
      .optional(),
    enabledToolIds: z.array(text).optional(),
    disabledToolIds: z.array(text).optional(),
  }),
})

/** What a session is made of; its status follows from the time. */
export interface SessionRecord {
  readonly id: string
  readonly key: number
  readonly title: string | null
  readonly computerId: string | null
  readonly createdAt: number
  /** Pending before it, running until `endsAt`, idle from then on; milliseconds. */
  readonly runsFrom: number
  readonly endsAt: number
  readonly children: readonly string[]
  readonly settings: Readonly<Record<string, unknown>>
  readonly changedAt: number
}

export type Sessions = ReturnType<typeof createSessions>

export interface SessionsOptions {
  readonly seed: number
  readonly now: () => number
  readonly canInterrupt: boolean
  /** Where some of the sessions run. */
  readonly computerIds: readonly string[]
}

const MINUTE = 60_000
const MADE = 12
/** A session's children; the second has a child of its own. */
const CHILDREN: ReadonlyMap<number, readonly number[]> = new Map([
  [3, [4, 5]],
  [4, [6]],
])

/**
 * The sessions of the organisation, held as long as the platform runs. For an id that
 * there is not each throws Refusal 404.
 */
export function createSessions({ seed, now, canInterrupt, computerIds }: SessionsOptions) {
  const began = now()
  const records = new Map<string, SessionRecord>()
  const idOf = (index: number): string => uuidOf(keyOf(seed, 'session', index))
  for (let index = 0; index < MADE; index += 1) {
    const children = (CHILDREN.get(index) ?? []).map(idOf)
    const record = madeUp(seed, index, children, computerIds, began)
    records.set(record.id, record)
  }

  const find = (id: string, computerId: string | null = null): SessionRecord => {
    const record = records.get(id)
    if (record === undefined) throw notFound('session', id)
    if (computerId === null || record.computerId === computerId) return record
    throw notFound(`session on the computer '${computerId}'`, id)
  }
  const read = (id: string, computerId?: string | null): object =>
    answerOf(find(id, computerId), records, now())

  return {
    ids: (): readonly string[] => [...records.keys()],
    find,
    read,
    patch: (id: string, settings: Readonly<Record<string, unknown>>): object => {
      const record = find(id)
      const merged = { ...record.settings, ...settings }
      records.set(id, { ...record, settings: merged, changedAt: now() })
      return read(id)
    },
    /** Nothing happens to an idle one. @throws Refusal 403 where it is not enabled. */
    interrupt: (id: string): void => {
      const record = find(id)
      if (!canInterrupt) {
        throw new Refusal(403, 'Forbidden', 'interrupt is not enabled for this organization')
      }
      if (statusOf(record, now()) === 'running') records.set(id, { ...record, endsAt: now() })
    },
    /** A session that installs the dependencies of a computer. */
    install: (computerId: string, startedAt: number, durationMs: number): string => {
      const index = records.size
      const plain = madeUp(seed, index, [], [], startedAt)
      records.set(plain.id, {
        ...plain,
        title: 'Install dependencies',
        computerId,
        createdAt: startedAt,
        changedAt: startedAt,
        runsFrom: startedAt,
        endsAt: startedAt + durationMs,
        settings: { model: 'atlas-2', tags: [{ name: 'install-deps' }] },
      })
      return plain.id
    },
  }
}

function madeUp(
  seed: number,
  index: number,
  children: readonly string[],
  computerIds: readonly string[],
  began: number,
): SessionRecord {
  const key = keyOf(seed, 'session', index)
  // the first runs, the second will; the others ended on a day of the week before
  const isUnderWay = index < 2
  const createdAt = isUnderWay ? began - 2 * MINUTE : began - (index + 4) * 13 * 60 * MINUTE
  const runsFrom = index === 1 ? began + 5 * MINUTE : createdAt + 1_500
  return {
    id: uuidOf(key),
    key,
    title: index % 5 === 4 ? null : `Café ordering, part ${index + 1}`,
    computerId: index % 2 === 0 ? (computerIds[index % 3] ?? null) : null,
    createdAt,
    runsFrom,
    endsAt: isUnderWay ? began + (index + 1) * 10 * MINUTE : createdAt + (20 + index) * MINUTE,
    children,
    settings: settingsOf(index, createdAt),
    changedAt: createdAt,
  }
}

function settingsOf(index: number, createdAt: number): Readonly<Record<string, unknown>> {
  const later = new Date(createdAt + 90 * MINUTE).toISOString()
  return {
    model: index % 3 === 0 ? 'atlas-2-thinking' : 'atlas-2',
    specModeModel: 'atlas-2-thinking',
    providerLockTimestamp: new Date(createdAt).toISOString(),
    assistantActiveTimeMs: 61_000 + index * 7_000,
    ...(index % 4 === 3 ? { archivedAt: later } : {}),
    tags: [
      { name: 'release', metadata: { sprint: 12, apiToken: SECRETS.tagToken } },
      ...(index % 2 === 0 ? [{ name: 'café' }] : []),
    ],
    enabledToolIds: ['Read', 'Edit', 'linear___get_issue'],
    disabledToolIds: ['WebSearch'],
  }
}

function answerOf(
  record: SessionRecord,
  all: ReadonlyMap<string, SessionRecord>,
  now: number,
): object {
  const status = statusOf(record, now)
  const children = record.children.flatMap((id) => all.get(id) ?? [])
  return {
    sessionId: record.id,
    status,
    messageCount: messageIds(record).length,
    createdAt: record.createdAt,
    updatedAt: Math.max(record.changedAt, Math.min(now, record.endsAt)),
    ...(record.title === null ? {} : { title: record.title }),
    ...(status === 'idle' ? { completedAt: record.endsAt } : {}),
    ...(record.computerId === null ? {} : { computerId: record.computerId }),
    sessionSettings: {
      ...record.settings,
      tokenUsage: usageOf(record),
      inclusiveTokenUsage: inclusiveUsageOf(record, all),
      ...(children.length === 0 || 'childInclusiveTokenUsageBySessionId' in record.settings
        ? {}
        : {
            childInclusiveTokenUsageBySessionId: Object.fromEntries(
              children.map((child) => [child.id, inclusiveUsageOf(child, all)]),
            ),
          }),
    },
  }
}

function statusOf({ runsFrom, endsAt }: SessionRecord, now: number): string {
  if (now >= endsAt) return 'idle'
  return now < runsFrom ? 'pending' : 'running'
}

type Usage = Readonly<Record<string, number>>

function usageOf({ key }: SessionRecord): Usage {
  const inputTokens = 20_000 + Math.floor(draw(key, 1) * 400_000)
  const outputTokens = 2_000 + Math.floor(draw(key, 2) * 40_000)
  return {
    inputTokens,
    outputTokens,
    cacheCreationTokens: Math.floor(inputTokens / 5),
    cacheReadTokens: inputTokens * 3,
    thinkingTokens: Math.floor(outputTokens / 4),
    serviceCredits: (inputTokens + outputTokens * 5) / 8,
  }
}

function inclusiveUsageOf(record: SessionRecord, all: ReadonlyMap<string, SessionRecord>): Usage {
  const sum = { ...usageOf(record) }
  for (const id of record.children) {
    const child = all.get(id)
    if (child === undefined) continue
    for (const [name, value] of Object.entries(inclusiveUsageOf(child, all)))
      sum[name] = (sum[name] ?? 0) + value
  }
  return sum
}

import type { Hono } from 'hono'
import { z } from 'zod'
import { SECRETS } from './catalogue.ts'
import { derive, draw, entry, keyOf, uuidOf } from './random.ts'
import { bodyOf, forbidden, notFound, type Env, type Platform } from './requests.ts'

const text = z.string()

/** The body of an update: the settings that may be changed, without token usage. */
const patchBody = z.strictObject({
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

/** A session; its status depends on the time. */
type Session = Readonly<ReturnType<typeof madeUp>>

type All = ReadonlyMap<string, Session>

export type Sessions = Readonly<ReturnType<typeof addSessions>>

const MINUTE = 60_000
const MADE = 12
const CHILDREN: Readonly<Record<number, readonly number[]>> = { 3: [4, 5], 4: [6] }

/** Adds the sessions of the organisation and their messages. Their state is in memory. */
export function addSessions(
  app: Hono<Env>,
  { seed, now, canInterrupt }: Platform,
  computerIds: readonly string[],
) {
  const api = '/api/v0/sessions/:id'
  const began = now()
  const sessions = new Map<string, Session>()
  const put = (session: Session): string => {
    sessions.set(session.id, session)
    return session.id
  }
  for (let index = 0; index < MADE; index += 1) {
    put(madeUp(seed, index, began, index % 2 === 0 ? computerIds[index % 3] : undefined))
  }

  /** @throws HTTPException 404, also if the session runs on another computer. */
  const find = (id: string, computerId?: string): Session => {
    const session = sessions.get(id)
    if (session === undefined) throw notFound('session', id)
    if (computerId === undefined || session.computerId === computerId) return session
    throw notFound(`session on the computer '${computerId}'`, id)
  }
  const read = (session: Session): object => servedAs(session, sessions, now())

  app.get(api, (context) => {
    const { id } = context.req.param()
    return context.json(read(find(id, context.req.query('computerId'))))
  })
  app.patch(api, async (context) => {
    const { sessionSettings } = await bodyOf(context, patchBody)
    const session = find(context.req.param('id'))
    const settings = { ...session.settings, ...sessionSettings }
    const id = put({ ...session, settings, changedAt: now() })
    return context.json(read(find(id)))
  })
  app.post(`${api}/interrupt`, (context) => {
    const session = find(context.req.param('id'))
    if (!canInterrupt) throw forbidden('interrupt is not enabled for this organization')
    // an idle session stays as it is
    if (statusOf(session, now()) === 'running') put({ ...session, endsAt: now() })
    return context.json({})
  })
  app.get(`${api}/messages/:message`, (context) => {
    const { id, message } = context.req.param()
    return context.json(messageOf(find(id, context.req.query('computerId')), message))
  })

  return {
    ids: (): readonly string[] => [...sessions.keys()],
    messageIds: (id: string): readonly string[] => messageIds(find(id)),
    /** Makes a session that installs the dependencies of a computer; returns its id. */
    install: (computerId: string, startedAt: number, durationMs: number): string =>
      put({
        ...madeUp(seed, sessions.size, startedAt, computerId),
        title: 'Install dependencies',
        createdAt: startedAt,
        changedAt: startedAt,
        runsFrom: startedAt,
        endsAt: startedAt + durationMs,
        children: [],
        settings: { model: 'atlas-2', tags: [{ name: 'install-deps' }] },
      }),
  }
}

function madeUp(seed: number, index: number, began: number, computerId: string | undefined) {
  const keyAt = (place: number): number => keyOf(seed, 'session', place)
  // the first runs, the second is pending; the others ended in the week before
  const isUnderWay = index < 2
  const createdAt = isUnderWay ? began - 2 * MINUTE : began - (index + 4) * 13 * 60 * MINUTE
  const runsFrom = index === 1 ? began + 5 * MINUTE : createdAt + 1_500
  return {
    id: uuidOf(keyAt(index)),
    key: keyAt(index),
    title: index % 5 === 4 ? undefined : `Café ordering, part ${index + 1}`,
    computerId,
    createdAt,
    /** Pending before it, running until `endsAt`, idle from then on; milliseconds. */
    runsFrom,
    endsAt: isUnderWay ? began + (index + 1) * 10 * MINUTE : createdAt + (20 + index) * MINUTE,
    children: (CHILDREN[index] ?? []).map((child) => uuidOf(keyAt(child))),
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

function servedAs(session: Session, all: All, now: number): object {
  const status = statusOf(session, now)
  const ofChildren = Object.fromEntries(
    childrenOf(session, all).map((child) => [child.id, inclusiveUsage(child, all)]),
  )
  return {
    sessionId: session.id,
    status,
    messageCount: MESSAGES,
    createdAt: session.createdAt,
    updatedAt: Math.max(session.changedAt, Math.min(now, session.endsAt)),
    title: session.title,
    completedAt: status === 'idle' ? session.endsAt : undefined,
    computerId: session.computerId,
    sessionSettings: {
      ...session.settings,
      tokenUsage: usageOf(session),
      inclusiveTokenUsage: inclusiveUsage(session, all),
      ...(session.children.length === 0 || 'childInclusiveTokenUsageBySessionId' in session.settings
        ? {}
        : { childInclusiveTokenUsageBySessionId: ofChildren }),
    },
  }
}

function statusOf({ runsFrom, endsAt }: Session, now: number): string {
  if (now >= endsAt) return 'idle'
  return now < runsFrom ? 'pending' : 'running'
}

function childrenOf({ children }: Session, all: All): readonly Session[] {
  return children.flatMap((id) => all.get(id) ?? [])
}

type Usage = Readonly<Record<string, number>>

function usageOf({ key }: Session): Usage {
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

function inclusiveUsage(session: Session, all: All): Usage {
  const sum = { ...usageOf(session) }
  for (const child of childrenOf(session, all)) {
    for (const [name, value] of Object.entries(inclusiveUsage(child, all))) {
      sum[name] = (sum[name] ?? 0) + value
    }
  }
  return sum
}

const MESSAGES = 14
const ROLES = ['user', 'assistant', 'tool', 'system']

// prettier-ignore
const SOURCES = [
  'web', 'desktop', 'cli_tui', 'cli_exec', 'cli_acp', 'team-chat', 'issue-tracker', 'sessions_api',
  'api', 'automation', 'readiness-remediation', 'readiness-evaluation', 'wiki-generation',
  'wiki-ci-setup',
]

function messageIds({ key }: Session): readonly string[] {
  return Array.from({ length: MESSAGES }, (_, index) => uuidOf(derive(key, 1_000 + index)))
}

function messageOf(session: Session, id: string): object {
  const ids = messageIds(session)
  const index = ids.indexOf(id)
  if (index < 0) throw notFound('message', id)
  const role = entry(ROLES, index % ROLES.length)
  const createdAt = session.createdAt + index * 30_000
  const source = derive(session.key, 0) + index / 4
  return {
    id,
    role,
    content: contentOf(session.key, index),
    createdAt,
    updatedAt: createdAt + 900,
    parentId: ids[index - 1],
    visibility: entry(['both', 'llm_only', 'user_only'], index % 3),
    isUserVisible: index % 3 !== 1,
    isError: index % 7 === 6,
    ...(role === 'user' ? { userMessageSource: entry(SOURCES, source % SOURCES.length) } : {}),
    ...(role === 'assistant' ? assistantFields(session.key, index) : {}),
  }
}

function assistantFields(key: number, index: number): object {
  return {
    vendorBMessageId: `msg_b_${index}`,
    vendorBEncryptedContent: Buffer.from(`sealed ${key} ${index}`).toString('base64'),
    vendorBReasoningId: `rs_${index}`,
    vendorBReasoningSummary: 'Looked at the tests first.',
    vendorBPhase: entry(['commentary', 'final_answer', null], Math.floor(index / 4) % 3),
    vendorCThoughtSignature: 'c2lnbmVk',
    chatCompletionReasoningField: entry(['reasoning', 'reasoning_content'], (index >> 2) % 2),
    chatCompletionReasoningContent: 'The cache is cold on the first call.',
  }
}

/** Blocks of text, and of undocumented types. */
function contentOf(key: number, index: number): readonly object[] {
  const others: readonly (readonly object[])[] = [
    [{ type: 'image', source: { kind: 'base64', bytes: 412 } }],
    [
      { type: 'thinking', thinking: 'First the tests.', signatureProvider: 'vendor_c' },
      { type: 'tool_use', id: `call_${index}`, name: 'Execute', input: { command: 'npm test' } },
    ],
    [{ type: 'tool_result', toolUseId: `call_${index - 1}`, isError: false, content: 'ok 12' }],
    [{ type: 'text', text: `The key is ${SECRETS.messageToken}, keep it.`, id: 'block_key' }],
  ]
  return [
    { type: 'text', text: `Zeile ${index}: “größer” — \u{1f980}`, id: `block_${index}` },
    ...entry(others, index % others.length),
    { type: 'marker', key },
  ]
}

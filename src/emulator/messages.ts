import { derive, entry, uuidOf } from './random.ts'
import { notFound } from './queries.ts'
import { SECRETS } from './secrets.ts'

// prettier-ignore
const SOURCES = [
  'web', 'desktop', 'cli_tui', 'cli_exec', 'cli_acp', 'team-chat', 'issue-tracker', 'sessions_api',
  'api', 'automation', 'readiness-remediation', 'readiness-evaluation', 'wiki-generation',
  'wiki-ci-setup',
]
const ROLES = ['user', 'assistant', 'tool', 'system']
const MESSAGES = 14

/** Of a session what its messages follow from. */
interface Conversation {
  readonly key: number
  /** Milliseconds since the epoch. */
  readonly createdAt: number
}

/** The ids of a session's messages, in order. */
export function messageIds({ key }: Conversation): readonly string[] {
  return Array.from({ length: MESSAGES }, (_, index) => idOf(key, index))
}

/** A message of a session. @throws Refusal 404. */
export function messageAnswer(session: Conversation, messageId: string): object {
  const index = messageIds(session).indexOf(messageId)
  if (index < 0) throw notFound('message', messageId)
  const role = entry(ROLES, index % ROLES.length)
  const createdAt = session.createdAt + index * 30_000
  return {
    id: messageId,
    role,
    content: contentOf(session.key, index),
    createdAt,
    updatedAt: createdAt + 900,
    ...(index === 0 ? {} : { parentId: idOf(session.key, index - 1) }),
    visibility: entry(['both', 'llm_only', 'user_only'], index % 3),
    isUserVisible: index % 3 !== 1,
    isError: index % 7 === 6,
    ...OF_ROLE[role]?.(session.key, index),
  }
}

/** Fields that only messages of a role have. */
const OF_ROLE: Readonly<Record<string, (key: number, index: number) => object>> = {
  user: (key, index) => ({
    userMessageSource: entry(SOURCES, (derive(key, 0) + index / 4) % SOURCES.length),
  }),
  assistant: (key, index) => ({
    vendorBMessageId: `msg_b_${index}`,
    vendorBEncryptedContent: Buffer.from(`sealed ${key} ${index}`).toString('base64'),
    vendorBReasoningId: `rs_${index}`,
    vendorBReasoningSummary: 'Looked at the tests first.',
    vendorBPhase: entry(['commentary', 'final_answer', null], Math.floor(index / 4) % 3),
    vendorCThoughtSignature: 'c2lnbmVk',
    chatCompletionReasoningField: entry(['reasoning', 'reasoning_content'], (index >> 2) % 2),
    chatCompletionReasoningContent: 'The cache is cold on the first call.',
  }),
}

/** Blocks of text, and of types that the specification does not name. */
function contentOf(key: number, index: number): readonly object[] {
  const text = { type: 'text', text: `Zeile ${index}: “größer” — \u{1f980}`, id: `block_${index}` }
  const others: readonly (readonly object[])[] = [
    [{ type: 'image', source: { kind: 'base64', bytes: 412 } }],
    [
      { type: 'thinking', thinking: 'First the tests.', signatureProvider: 'vendor_c' },
      { type: 'tool_use', id: `call_${index}`, name: 'Execute', input: { command: 'npm test' } },
    ],
    [{ type: 'tool_result', toolUseId: `call_${index - 1}`, isError: false, content: 'ok 12' }],
    [{ type: 'text', text: `The key is ${SECRETS.messageToken}, keep it.`, id: 'block_key' }],
  ]
  return [text, ...entry(others, index % others.length), { type: 'marker', key }]
}

function idOf(key: number, index: number): string {
  return uuidOf(derive(key, 1_000 + index))
}

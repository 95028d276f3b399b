import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { expectProblem, platform, type Asked } from './platform.ts'

const PATH = '/api/v0/sessions'
const MINUTE = 60_000

const usage = z.strictObject({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cacheCreationTokens: z.number(),
  cacheReadTokens: z.number(),
  thinkingTokens: z.number(),
  serviceCredits: z.number(),
})
const session = z.strictObject({
  sessionId: z.string(),
  status: z.enum(['idle', 'pending', 'running']),
  messageCount: z.int(),
  createdAt: z.int(),
  updatedAt: z.int(),
  title: z.string().optional(),
  completedAt: z.int().optional(),
  computerId: z.string().optional(),
  sessionSettings: z.strictObject({
    model: z.string(),
    specModeModel: z.string().optional(),
    providerLockTimestamp: z.string().optional(),
    assistantActiveTimeMs: z.int().optional(),
    tokenUsage: usage,
    inclusiveTokenUsage: usage,
    childInclusiveTokenUsageBySessionId: z.record(z.string(), usage).optional(),
    archivedAt: z.string().optional(),
    tags: z.array(z.strictObject({ name: z.string(), metadata: z.looseObject({}).optional() })),
    enabledToolIds: z.array(z.string()).optional(),
    disabledToolIds: z.array(z.string()).optional(),
  }),
})
const block = z.looseObject({ type: z.string() })
const message = z.strictObject({
  id: z.string(),
  role: z.enum(['user', 'assistant', 'tool', 'system']),
  content: z.array(block),
  createdAt: z.number(),
  updatedAt: z.number(),
  parentId: z.string().optional(),
  userMessageSource: z.string().optional(),
  visibility: z.enum(['both', 'llm_only', 'user_only']),
  vendorBMessageId: z.string().optional(),
  vendorBEncryptedContent: z.string().optional(),
  vendorBReasoningId: z.string().optional(),
  vendorBReasoningSummary: z.string().optional(),
  vendorBPhase: z.enum(['commentary', 'final_answer']).nullable().optional(),
  vendorCThoughtSignature: z.string().optional(),
  chatCompletionReasoningField: z.enum(['reasoning', 'reasoning_content']).optional(),
  chatCompletionReasoningContent: z.string().optional(),
  isUserVisible: z.boolean(),
  isError: z.boolean(),
})

describe('sessions', () => {
  it('are read as the specification says; a parent counts its children in', async () => {
    const asked = await platform()
    const all = await allOf(asked)
    const parent = all.find(
      ({ sessionSettings }) => sessionSettings.childInclusiveTokenUsageBySessionId !== undefined,
    )
    const { tokenUsage, inclusiveTokenUsage, childInclusiveTokenUsageBySessionId } =
      parent?.sessionSettings ?? {}
    const children = Object.values(childInclusiveTokenUsageBySessionId ?? {})
    expect(children.length).toBeGreaterThan(1)
    const sum = children.reduce(
      (total, { inputTokens }) => total + inputTokens,
      tokenUsage?.inputTokens ?? 0,
    )
    expect(inclusiveTokenUsage?.inputTokens).toBe(sum)
    const known = all.map(({ sessionId }) => sessionId)
    for (const id of Object.keys(childInclusiveTokenUsageBySessionId ?? {}))
      expect(known).toContain(id)
  })

  it('run and become idle by the clock', async () => {
    const asked = await platform()
    const [first = '', second = ''] = asked.emulator.sessionIds()
    expect([await statusOf(asked, first), await statusOf(asked, second)]).toEqual([
      'running',
      'pending',
    ])
    asked.advance(10 * MINUTE)
    expect([await statusOf(asked, first), await statusOf(asked, second)]).toEqual([
      'idle',
      'running',
    ])
    asked.advance(10 * MINUTE)
    const ended = session.parse((await asked.get(`${PATH}/${second}`)).body)
    expect(ended.status).toBe('idle')
    expect(ended.completedAt).toBe(ended.updatedAt)
  })

  it('an unknown one is 404, and one that is asked of another computer too', async () => {
    const asked = await platform()
    expectProblem(await asked.get(`${PATH}/nobody`), 404)
    const found = (await allOf(asked)).find(({ computerId }) => computerId !== undefined)
    const path = `${PATH}/${found?.sessionId ?? ''}`
    expect((await asked.get(`${path}?computerId=${found?.computerId ?? ''}`)).status).toBe(200)
    expectProblem(await asked.get(`${path}?computerId=another`), 404)
  })

  it('a change is kept, and leaves the rest as it was', async () => {
    const asked = await platform()
    const id = asked.emulator.sessionIds()[5] ?? ''
    const before = session.parse((await asked.get(`${PATH}/${id}`)).body)
    const tags = [{ name: 'triaged', metadata: { by: 'ada' } }]
    const answer = await asked.send('PATCH', `${PATH}/${id}`, { sessionSettings: { tags } })
    expect(answer.status).toBe(200)
    const after = session.parse((await asked.get(`${PATH}/${id}`)).body)
    expect(answer.body).toEqual(after)
    expect(after.sessionSettings).toEqual({ ...before.sessionSettings, tags })
    expect(after.updatedAt).toBeGreaterThan(before.updatedAt)
  })

  it.each([
    ['token usage', { sessionSettings: { tokenUsage: { inputTokens: 1 } } }],
    ['a setting that it does not know', { sessionSettings: { colour: 'red' } }],
    ['a value of another type', { sessionSettings: { assistantActiveTimeMs: 'long' } }],
    ['no settings', {}],
  ])('a change of %s is 400', async (_, body) => {
    const asked = await platform()
    const [id = ''] = asked.emulator.sessionIds()
    expectProblem(await asked.send('PATCH', `${PATH}/${id}`, body), 400)
  })

  it('interrupt ends a running one, and does nothing to an idle one', async () => {
    const asked = await platform()
    const [id = ''] = asked.emulator.sessionIds()
    for (let time = 0; time < 2; time += 1) {
      expect(await asked.send('POST', `${PATH}/${id}/interrupt`)).toMatchObject({
        status: 200,
        body: {},
      })
      expect(await statusOf(asked, id)).toBe('idle')
    }
    expectProblem(await asked.send('POST', `${PATH}/nobody/interrupt`), 404)
  })

  it('interrupt is 403 where it is not enabled', async () => {
    const asked = await platform({ interrupt: false })
    const [id = ''] = asked.emulator.sessionIds()
    expectProblem(await asked.send('POST', `${PATH}/${id}/interrupt`), 403)
    expect(await statusOf(asked, id)).toBe('running')
  })
})

describe('messages', () => {
  it('are as many as the session says, with blocks that no specification names', async () => {
    const asked = await platform()
    const id = asked.emulator.sessionIds()[3] ?? ''
    const { messageCount } = session.parse((await asked.get(`${PATH}/${id}`)).body)
    const messageIds = asked.emulator.messageIds(id)
    expect(messageIds).toHaveLength(messageCount)
    const messages = await Promise.all(
      messageIds.map(async (messageId) =>
        message.parse((await asked.get(`${PATH}/${id}/messages/${messageId}`)).body),
      ),
    )
    expect(new Set(messages.map(({ role }) => role)).size).toBe(4)
    const types = new Set(messages.flatMap(({ content }) => content.map(({ type }) => type)))
    expect(types).toContain('text')
    expect(types).toContain('tool_use')
    expect(messages[1]?.parentId).toBe(messages[0]?.id)
  })

  it('an unknown one is 404, and so is one of another session', async () => {
    const asked = await platform()
    const [first = '', second = ''] = asked.emulator.sessionIds()
    expectProblem(await asked.get(`${PATH}/${first}/messages/nobody`), 404)
    const ofSecond = asked.emulator.messageIds(second)[0] ?? ''
    expectProblem(await asked.get(`${PATH}/${first}/messages/${ofSecond}`), 404)
  })
})

function allOf(asked: Asked): Promise<z.infer<typeof session>[]> {
  return Promise.all(
    asked.emulator
      .sessionIds()
      .map(async (id) => session.parse((await asked.get(`${PATH}/${id}`)).body)),
  )
}

async function statusOf(asked: Asked, id: string): Promise<string> {
  return session.parse((await asked.get(`${PATH}/${id}`)).body).status
}

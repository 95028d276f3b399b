import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { expectProblem, platform, type Client } from './platform.ts'

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
  it('have the specified form, and the usage of a parent includes its children', async () => {
    const client = await platform()
    const all = await allOf(client)
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

  it('run and become idle as the clock advances', async () => {
    const client = await platform()
    const [first = '', second = ''] = client.emulator.sessionIds()
    expect([await statusOf(client, first), await statusOf(client, second)]).toEqual([
      'running',
      'pending',
    ])
    client.advance(10 * MINUTE)
    expect([await statusOf(client, first), await statusOf(client, second)]).toEqual([
      'idle',
      'running',
    ])
    client.advance(10 * MINUTE)
    const ended = session.parse((await client.get(`${PATH}/${second}`)).body)
    expect(ended.status).toBe('idle')
    expect(ended.completedAt).toBe(ended.updatedAt)
  })

  it('get a 404 for an unknown id, and for another computer', async () => {
    const client = await platform()
    expectProblem(await client.get(`${PATH}/unknown`), 404)
    const found = (await allOf(client)).find(({ computerId }) => computerId !== undefined)
    const path = `${PATH}/${found?.sessionId ?? ''}`
    expect((await client.get(`${path}?computerId=${found?.computerId ?? ''}`)).status).toBe(200)
    expectProblem(await client.get(`${path}?computerId=another`), 404)
  })

  it('keep a change, and their other settings', async () => {
    const client = await platform()
    const id = client.emulator.sessionIds()[5] ?? ''
    const before = session.parse((await client.get(`${PATH}/${id}`)).body)
    const tags = [{ name: 'triaged', metadata: { by: 'ada' } }]
    const answer = await client.send('PATCH', `${PATH}/${id}`, { sessionSettings: { tags } })
    expect(answer.status).toBe(200)
    const after = session.parse((await client.get(`${PATH}/${id}`)).body)
    expect(answer.body).toEqual(after)
    expect(after.sessionSettings).toEqual({ ...before.sessionSettings, tags })
    expect(after.updatedAt).toBeGreaterThan(before.updatedAt)
  })

  it.each([
    ['token usage', { sessionSettings: { tokenUsage: { inputTokens: 1 } } }],
    ['an unknown setting', { sessionSettings: { colour: 'red' } }],
    ['a value of another type', { sessionSettings: { assistantActiveTimeMs: 'long' } }],
    ['no settings', {}],
  ])('get a 400 for a change of %s', async (_, body) => {
    const client = await platform()
    const [id = ''] = client.emulator.sessionIds()
    expectProblem(await client.send('PATCH', `${PATH}/${id}`, body), 400)
  })

  it('become idle by interrupt, and stay idle by another', async () => {
    const client = await platform()
    const [id = ''] = client.emulator.sessionIds()
    for (let time = 0; time < 2; time += 1) {
      expect(await client.send('POST', `${PATH}/${id}/interrupt`)).toMatchObject({
        status: 200,
        body: {},
      })
      expect(await statusOf(client, id)).toBe('idle')
    }
    expectProblem(await client.send('POST', `${PATH}/unknown/interrupt`), 404)
  })

  it('get a 403 for interrupt where it is not enabled', async () => {
    const client = await platform({ interrupt: false })
    const [id = ''] = client.emulator.sessionIds()
    expectProblem(await client.send('POST', `${PATH}/${id}/interrupt`), 403)
    expect(await statusOf(client, id)).toBe('running')
  })
})

describe('messages', () => {
  it('are as many as messageCount says, with blocks beyond the specification', async () => {
    const client = await platform()
    const id = client.emulator.sessionIds()[3] ?? ''
    const { messageCount } = session.parse((await client.get(`${PATH}/${id}`)).body)
    const messageIds = client.emulator.messageIds(id)
    expect(messageIds).toHaveLength(messageCount)
    const messages = await Promise.all(
      messageIds.map(async (messageId) =>
        message.parse((await client.get(`${PATH}/${id}/messages/${messageId}`)).body),
      ),
    )
    expect(new Set(messages.map(({ role }) => role)).size).toBe(4)
    const types = new Set(messages.flatMap(({ content }) => content.map(({ type }) => type)))
    expect(types).toContain('text')
    expect(types).toContain('tool_use')
    expect(messages[1]?.parentId).toBe(messages[0]?.id)
  })

  it('get a 404 for an unknown id, and for an id of another session', async () => {
    const client = await platform()
    const [first = '', second = ''] = client.emulator.sessionIds()
    expectProblem(await client.get(`${PATH}/${first}/messages/unknown`), 404)
    const ofSecond = client.emulator.messageIds(second)[0] ?? ''
    expectProblem(await client.get(`${PATH}/${first}/messages/${ofSecond}`), 404)
  })
})

function allOf(client: Client): Promise<z.infer<typeof session>[]> {
  return Promise.all(
    client.emulator
      .sessionIds()
      .map(async (id) => session.parse((await client.get(`${PATH}/${id}`)).body)),
  )
}

async function statusOf(client: Client, id: string): Promise<string> {
  return session.parse((await client.get(`${PATH}/${id}`)).body).status
}

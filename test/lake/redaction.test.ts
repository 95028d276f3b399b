import { readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { redactionKeyIn, openRedaction, Redaction } from '../../src/lib/secrets/redaction.ts'
import { writeAtomic } from '../../src/lib/files.ts'
import { temporaryFolder } from '../support/helpers.ts'

const redaction = new Redaction('0'.repeat(64))

const control = (settings: unknown): string => JSON.stringify({ revision: 1, settings })

function redacted(settings: unknown): unknown {
  const item = JSON.parse(redaction.item('enterprise_controls', control(settings))) as {
    settings: unknown
  }
  return item.settings
}

const MARK = expect.stringMatching(/^\[redacted:[0-9a-f]{8}\]$/) as string

describe('redaction of enterprise controls', () => {
  it('keeps documented and harmless settings', () => {
    const settings = {
      sessionDefaultSettings: {
        model: 'large-4-5-20250929',
        reasoningEffort: 'xhigh',
        autonomyLevel: 'off',
      },
      maxAutonomyLevel: 'medium',
      mcpAutonomyOverrides: { github: { defaultLevel: 'low', tools: { create_secret: 'high' } } },
      cloudSessionSync: true,
      commandAllowlist: ['git status', 'npm run test -- --watch=false'],
      modelPolicy: {
        allowedModelIds: ['a', 'b'],
        allowAllServiceModels: false,
        allowedBaseUrls: ['https://llm.example/v1'],
      },
      missionPolicy: {
        restrictedAccess: true,
        allowedUserIds: ['user_01HZX8Q4T2N5V7B9C3D6F8G0J1'],
      },
      userModelPolicies: {
        user_01HZX8Q4T2N5V7B9C3D6F8G0J1: { allowedModelIds: ['a'], blockedModelIds: [] },
      },
      enabledPlugins: { 'secret-scanner@hub': true },
      extraKnownMarketplaces: {
        hub: { source: { source: 'git-subdir', url: 'https://h.example/r.git', path: 'p' } },
      },
      strictKnownMarketplaces: [{ source: 'code-host', repo: 'o/r' }],
      networkPolicy: { allowedIps: ['10.0.0.0/8', '::1'] },
      sandbox: {
        enabled: true,
        filesystem: { allowRead: ['/etc/ssl', '~/.cache'] },
        network: {
          allowedDomains: ['*.example.com'],
          allowUnixSockets: ['/run/x.sock'],
          httpProxyPort: 8080,
        },
      },
      restrictApiKeyCreationToManagers: true,
      managedComputersAllowedEmails: ['a.b@example.com'],
      customModels: [
        {
          model: 'm',
          provider: 'vendor_a',
          id: 'x',
          index: 0,
          baseUrl: 'https://m.example/v1',
          displayName: 'M 1',
          maxContextLimit: 1e5,
          thinkingMaxTokens: 1,
          maxOutputTokens: 2,
          noImageSupport: false,
          hostedCloud: {
            cloudProfile: 'dev',
            cloudRegion: 'eu-west-1',
            hostedBaseUrl: 'https://c.example',
          },
        },
      ],
      sessionRetentionDays: 30,
    }
    expect(redacted(settings)).toEqual(settings)
  })

  it.each([
    ['a key', { customModels: [{ apiKey: 'x' }] }, { customModels: [{ apiKey: MARK }] }],
    [
      'a header',
      { customModels: [{ extraHeaders: { 'X-Team': 'a' } }] },
      { customModels: [{ extraHeaders: { 'X-Team': MARK } }] },
    ],
    [
      'an argument, however deep',
      { customModels: [{ extraArgs: { a: [{ b: 'c', n: 1, t: true, z: null }] } }] },
      { customModels: [{ extraArgs: { a: [{ b: MARK, n: MARK, t: true, z: null }] } }] },
    ],
    [
      'an export of credentials',
      {
        customModels: [
          {
            hostedCloud: { cloudCredentialExport: 'export A=b', cloudAuthRefresh: 'aws sso login' },
          },
        ],
      },
      { customModels: [{ hostedCloud: { cloudCredentialExport: MARK, cloudAuthRefresh: MARK } }] },
    ],
    [
      'an undocumented field',
      { newPolicy: { mode: 'strict', list: ['a'], n: 5 } },
      { newPolicy: { mode: MARK, list: [MARK], n: MARK } },
    ],
    [
      'a number under the name of a secret',
      { newPolicy: { pin: 1234, vault: { credentials: { a: 1 } } } },
      { newPolicy: { pin: MARK, vault: { credentials: { a: MARK } } } },
    ],
    [
      'a documented field that became an object',
      { maxAutonomyLevel: { level: 'low' } },
      { maxAutonomyLevel: { level: MARK } },
    ],
    [
      'a documented list that became a text',
      { commandAllowlist: 'git status' },
      { commandAllowlist: MARK },
    ],
    [
      'a text in place of an enum value',
      { maxAutonomyLevel: 'correct horse' },
      { maxAutonomyLevel: MARK },
    ],
    [
      'a token as a name',
      { newPolicy: { ghp_abcdefghij1234567890ABCDEFGHIJ123456: true } },
      { newPolicy: { [MARK]: true } },
    ],
  ])('marks %s as a secret', (_, settings, left) => {
    const found = redacted(settings)
    if (_ === 'a token as a name')
      expect(JSON.stringify(found)).toMatch(/\{"\[redacted:[0-9a-f]{8}\]":true\}/)
    else expect(found).toEqual(left)
  })

  it('marks a secret inside a harmless text', () => {
    const found = redacted({
      commandAllowlist: ['curl -H "Authorization: Bearer abc" https://u:p@h.example?key=v'],
      modelPolicy: { allowedBaseUrls: ['https://h.example/v1?key=abc'] },
    })
    expect(JSON.stringify(found)).not.toMatch(/abc|u:p|key=v/)
    expect(JSON.stringify(found)).toContain('curl -H')
    expect(JSON.stringify(found)).toContain('https://h.example/v1?key=[redacted:')
  })

  it('keeps an empty text, which shows that nothing is set', () => {
    expect(redacted({ customModels: [{ apiKey: '' }] })).toEqual({ customModels: [{ apiKey: '' }] })
  })

  it('keeps the user who made the change', () => {
    const item =
      '{"revision":7,"user":{"id":"u1","email":"a@b.c","name":"Ann Bee"},"updatedAt":"2026-03-01T00:00:00Z"}'
    expect(redaction.item('enterprise_controls', item)).toBe(item)
  })
})

describe('redaction of other items', () => {
  it.each([
    [
      'computers',
      { relayClientUrl: 'wss://r.example/c/7?token=abc', remoteUser: 'dev', status: 'active' },
    ],
    ['sessions', { sessionSettings: { tags: [{ name: 't', metadata: { apiKey: 'abc' } }] } }],
    [
      'messages',
      { content: [{ type: 'tool_use', input: { env: { DB_PASSWORD: 'abc' }, auth: ['abc'] } }] },
    ],
    ['messages', { content: [{ type: 'text', text: 'use API_KEY=abc please' }] }],
    ['hook_events', { input: { session_id: 's', tool_input: { command: 'curl -u me:abc h' } } }],
    ['readiness_reports', { report: { a: { rationale: 'found password: abc' } } }],
    ['readiness_reports', { repoUrl: 'https://u:abc@code.example/o/r?token=abc' }],
  ])('marks secrets in %s: %j', (resource, item) => {
    const text = redaction.item(resource, JSON.stringify(item))
    expect(text).not.toContain('abc')
    expect(text).toContain('[redacted:')
  })

  it.each([
    [
      'sessions',
      {
        sessionId: 'ses_01HZX8Q4T2N5V7B9C3D6F8G0J1',
        sessionSettings: {
          tokenUsage: { inputTokens: 1, serviceCredits: 2.5 },
          childInclusiveTokenUsageBySessionId: {
            ses_01HZX8Q4T2N5V7B9C3D6F8G0J2: { inputTokens: 9 },
          },
          enabledToolIds: ['tool_01HZX8Q4T2N5V7B9C3D6'],
        },
      },
    ],
    [
      'readiness_reports',
      {
        reportId: '123e4567-e89b-12d3-a456-426614174000',
        commitHash: '0123456789abcdef0123456789abcdef01234567',
        report: {
          secret_scanning: { numerator: 1, denominator: 2, rationale: 'It is on.' },
          api_token: { numerator: null, denominator: 1 },
        },
      },
    ],
    [
      'hook_events',
      {
        event_id: 'e',
        recorded_at: '2026-03-01T00:00:00.000Z',
        input: { hook_event_name: 'Stop', cwd: '/home/me/p', message: 'Waiting for you' },
      },
    ],
    ['usage_limits', { userLimits: [{ email: 'a1b2c3d4e5f6a7b8c9@example.com', limit: 1 }] }],
    [
      'computers',
      {
        name: 'box',
        hostname: 'i-0abcd1234ef567890',
        remoteUser: 'dev',
        provisioningSteps: [{ name: 'configure-credentials', status: 'done' }],
      },
    ],
    [
      'readiness_reports',
      {
        repoUrl: 'https://code.example/o/IntegrationTests2Service',
        branch: 'feature/x1y2z3a4b5c6d7e8',
      },
    ],
    [
      'sessions',
      {
        sessionSettings: { model: 'model4ABCdef567ghi8', tags: [{ name: 'sprint1a2b3c4d5e6f7g' }] },
      },
    ],
    ['usage_limits', { globalLimit: 5000000, userLimits: [{ email: 'a@b.c', limit: null }] }],
  ])('keeps %s without secrets as they are', (resource, item) => {
    const text = JSON.stringify(item)
    expect(redaction.item(resource, text)).toBe(text)
  })
})

describe('the marker of a secret', () => {
  const markOf = (secret: string): unknown => redacted({ x: secret })

  it('is the same for the same secret, wherever it is and however it is escaped', () => {
    const [a, b] = ['{"x":"\\u0061bc"}', '{"y":{"deep":["abc"]}}'].map(
      (settings) =>
        /\[redacted:\w+\]/.exec(
          redaction.item('enterprise_controls', `{"settings":${settings}}`),
        )?.[0],
    )
    expect(a).toBeDefined()
    expect(a).toBe(b)
  })

  it('differs for another secret, and in another data folder', () => {
    expect(markOf('abc')).not.toEqual(markOf('abd'))
    const other = new Redaction('1'.repeat(64)).item(
      'enterprise_controls',
      '{"settings":{"x":"abc"}}',
    )
    expect(other).not.toContain(JSON.stringify(markOf('abc')))
  })
})

it('redaction keeps all other bytes: numbers, spaces, order, spellings, repeated names', () => {
  const item =
    '{ "z":1e3, "big":9007199254740993,"one":1.0 ,"settings":{"apiKey" : "a\\"b" ,"n":-0.10,\n"n":[ ]},"revision":2}'
  expect(redaction.item('sessions', item)).toBe(
    item.replace('"a\\"b"', JSON.stringify((redacted({ x: 'a"b' }) as { x: string }).x)),
  )
})

it.each(['', '{', '{"a":tru}', '{"apiKey":"abc'])(
  'redaction refuses a text that is not JSON without quoting it: %s',
  (item) => {
    expect(() => redaction.item('enterprise_controls', item)).toThrow(
      /^it is not valid JSON \(\d+ characters\)$/,
    )
  },
)

it('redaction reads a deeply nested item', () => {
  const deep = `{"a":${'['.repeat(5_000)}"hunter2"${']'.repeat(5_000)}}`
  expect(redaction.item('enterprise_controls', deep)).not.toContain('hunter2')
})

describe('the redaction key of a data folder', () => {
  it('is created once and readable only by its owner, even when many processes start together', async () => {
    const data = await temporaryFolder()
    const all = await Promise.all(Array.from({ length: 20 }, () => openRedaction(data)))
    const texts = new Set(all.map((each) => each.item('enterprise_controls', '{"x":"abc"}')))
    expect(texts.size).toBe(1)
    const { mode } = await stat(join(data, 'state', 'redaction.key'))
    expect(mode & 0o777).toBe(0o600)
    expect((await openRedaction(data)).item('enterprise_controls', '{"x":"abc"}')).toBe(
      [...texts][0],
    )
  })

  it('is not created when one is given, which makes the same markers', async () => {
    const data = await temporaryFolder()
    await openRedaction(data)
    const path = join(data, 'state', 'redaction.key')
    const own = (await readFile(path, 'utf8')).trim()
    const before = (await openRedaction(data)).item('enterprise_controls', '{"x":"abc"}')
    await rm(path)
    const given = await openRedaction(data, own)
    expect(given.item('enterprise_controls', '{"x":"abc"}')).toBe(before)
    await expect(stat(path)).rejects.toThrow('ENOENT')
  })

  it.each([
    ['', null],
    ['  ', null],
    ['k'.repeat(32), 'k'.repeat(32)],
  ])('is read from the environment: %j', (text, key) => {
    expect(redactionKeyIn({ AGENT_WAREHOUSE_REDACTION_KEY: text })).toBe(key)
  })

  it('is refused when it is so short that it could be guessed', () => {
    const short = { AGENT_WAREHOUSE_REDACTION_KEY: 'k'.repeat(31) }
    expect(() => redactionKeyIn(short)).toThrow('fewer than 32 characters')
    expect(() => loadConfig({}, short, '/')).toThrow('fewer than 32 characters')
  })

  it('is refused when it was cut off', async () => {
    const data = await temporaryFolder()
    await writeAtomic(join(data, 'state', 'redaction.key'), 'abc')
    await expect(openRedaction(data)).rejects.toThrow('is not the original key')
  })
})

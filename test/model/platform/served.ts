import type { Lake } from '../../support/lake.ts'

/** Lands entity resources with awkward rows, by resource and night. */
export async function landPlatform(lake: Lake): Promise<void> {
  await landControls(lake)
  await landLimits(lake)
  await landReadiness(lake)
  await landComputers(lake)
  await landSessions(lake)
}

/** Lands a file of a day, fetched that night at five. */
function land(lake: Lake, resource: string, day: string, items: readonly object[], path?: string) {
  return lake.land(resource, day, `${day}T05:00:00Z`, items, path)
}

const ann = { id: 'u1', email: 'ann@x.example', name: 'Ann' }
const bob = { id: 'u2', email: 'bob@x.example', name: 'Bob' }

async function landControls(lake: Lake): Promise<void> {
  const change = (revision: number, user: object, settings: unknown): object => ({
    revision,
    user,
    updatedAt: `2026-01-${20 + revision}T10:00:00Z`,
    settings,
  })
  const model = (apiKey: string): object => ({ model: 'm', apiKey })
  const [first, other] = ['[redacted:00000001]', '[redacted:00000002]']
  const allowed = ['ls', 'git']
  await land(lake, 'enterprise_controls', '2026-02-02', [
    change(3, bob, { commandAllowlist: allowed, customModels: [model(first)] }),
    change(2, bob, {
      customModels: [model(first)],
      maxAutonomyLevel: 'low',
      commandAllowlist: ['git', 'ls', 'git'],
    }),
    change(1, ann, {
      commandAllowlist: allowed,
      maxAutonomyLevel: 'low',
      customModels: [model(first)],
    }),
  ])
  const fifth = {
    commandAllowlist: allowed,
    customModels: [model(other)],
    maxAutonomyLevel: 'high',
  }
  await land(lake, 'enterprise_controls', '2026-02-03', [change(5, ann, fifth)])
  await land(lake, 'enterprise_controls', '2026-02-04', [
    change(7, bob, { ...fifth, sandbox: { enabled: true } }),
    change(6, bob, 'no object'),
    change(5, ann, fifth),
  ])
}

async function landLimits(lake: Lake): Promise<void> {
  const limits = (day: string, globalLimit: number | null, users: Record<string, number | null>) =>
    land(lake, 'usage_limits', day, [
      {
        globalLimit,
        userLimits: Object.entries(users).map(([email, limit]) => ({ email, limit })),
      },
    ])
  await limits('2026-02-01', 2_000_000, { 'A@x.example': 5_000_000 })
  await limits('2026-02-02', 2_000_000, { ' a@X.example': 5_000_000, 'c@x.example': null })
  await limits('2026-02-03', 2_000_000, {})
  await limits('2026-02-05', null, { 'b@x.example': 9_000_000 })
  await limits('2026-02-06', null, { 'b@x.example': 9_000_000 })
  await limits('2026-02-08', null, { 'b@x.example': 9_000_000 })
}

async function landReadiness(lake: Lake): Promise<void> {
  const at = Date.parse('2026-02-01T12:00:00Z')
  const report = (reportId: string, createdAt: number, criteria: object): object => ({
    reportId,
    createdAt,
    repoUrl: 'https://code.example/a',
    apps: { web: { description: 'Web' } },
    report: criteria,
  })
  const of = (numerator: number | null, denominator: number): object => ({
    numerator,
    denominator,
    rationale: 'so it is',
  })
  await land(lake, 'readiness_reports', '2026-02-02', [
    report('r1', at, { lint: of(1, 2), tests: of(null, 1), docs: of(1, 1) }),
  ])
  await land(lake, 'readiness_reports', '2026-02-05', [
    report('r3', at + 3 * 86_400_000, { lint: of(null, 2) }),
    report('r1', at, { lint: of(2, 2), tests: of(null, 1) }),
    report('r2', at + 1, { lint: of(0, 2) }),
  ])
}

async function landComputers(lake: Lake): Promise<void> {
  const box = (id: string, createdAt: number, steps: readonly object[]): object => ({
    id,
    name: 'box',
    providerType: 'byom',
    createdAt,
    status: 'active',
    provisioningSteps: steps,
  })
  const install = (status: string, startedAt?: number): object => ({
    id: 'install-deps',
    status,
    startedAt,
  })
  await land(lake, 'computers', '2026-02-02', [
    box('c1', 1767225600, [install('done', 1767225601)]),
  ])
  const second = (steps: readonly object[]): object[] => [box('c2', 1767225600000, steps)]
  await land(lake, 'computers', '2026-02-03', second([install('pending')]))
  await land(lake, 'computers', '2026-02-04', second([install('failed', 1767225610)]))
  await land(
    lake,
    'computers',
    '2026-02-05',
    second([install('done', 1767225620), { name: 'Git' }]),
  )
  await land(lake, 'computers', '2026-02-06', [])
  const path = '/api/v0/computers/c2/metrics'
  const sample = (minute: number, cpuUsedPct: number): object => ({
    timestamp: `2026-02-03T04:0${minute}:00Z`,
    cpuUsedPct,
    cpuCount: 4,
    memUsed: 1,
    memTotal: 2,
    diskUsed: 3,
    diskTotal: 4,
  })
  await land(lake, 'computer_metrics', '2026-02-03', [sample(0, 10), sample(1, 20)], path)
  await land(lake, 'computer_metrics', '2026-02-04', [sample(1, 21), sample(2, 30)], path)
}

async function landSessions(lake: Lake): Promise<void> {
  const at = Date.parse('2026-02-01T12:00:00Z')
  const session = (sessionId: string, messageCount: number, settings: object): object => ({
    sessionId,
    status: 'idle',
    messageCount,
    createdAt: at,
    updatedAt: at + messageCount * 1000,
    sessionSettings: settings,
  })
  await land(lake, 'sessions', '2026-02-02', [
    session('s1', 3, { tags: [{ name: 'old' }], tokenUsage: { inputTokens: 10 } }),
  ])
  await land(lake, 'sessions', '2026-02-03', [
    session('s1', 5, {
      assistantActiveTimeMs: 7000,
      tokenUsage: { inputTokens: 20, serviceCredits: 100 },
      inclusiveTokenUsage: { inputTokens: 25, serviceCredits: 130 },
      childInclusiveTokenUsageBySessionId: { s2: {} },
      tags: [{ name: 'new' }, { name: 'a' }],
    }),
    session('s2', 2, { tokenUsage: { inputTokens: 5, serviceCredits: 30 } }),
  ])
  const message = (text: string): object => ({
    id: 'm1',
    role: 'user',
    content: [{ type: 'text', text }],
  })
  const path = '/api/v0/sessions/s1/messages/m1'
  await land(lake, 'messages', '2026-02-02', [message('abc')], path)
  await land(lake, 'messages', '2026-02-03', [message('abcd')], path)
  const event = (id: string, recorded_at: string, name: string, rest: object): object => ({
    event_id: id,
    recorded_at: `${recorded_at}Z`,
    input: { hook_event_name: name, ...rest },
  })
  const failed = event('e1', '2026-02-02T08:00:00', 'SessionEnd', {
    session_id: 's1',
    reason: 'error',
  })
  await land(lake, 'hook_events', '2026-02-02', [failed])
  await land(lake, 'hook_events', '2026-02-03', [
    failed,
    event('e2', '2026-02-03T08:00:00', 'SessionEnd', { session_id: 's1', reason: 'clear' }),
    event('e3', '2026-02-03T09:00:00', 'SessionEnd', { session_id: 's3', reason: 'other' }),
    event('e4', '2026-02-03T09:30:00', 'SessionEnd', { session_id: 's4' }),
    event('e5', '2026-02-03T10:00:00', 'Stop', { session_id: 's2' }),
    { event_id: 'e6', recorded_at: '2026-02-03T11:00:00Z', input: { unreadable: '{' } },
  ])
}

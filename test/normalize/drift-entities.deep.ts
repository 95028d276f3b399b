import { describe, expect, it } from 'vitest'
import { Lake } from '../support/lake.ts'

describe('drift of entity resources', () => {
  const MAP = { 'ann@x.test': { allowedModelIds: ['m'], blockedModelIds: 7, note: 'secret' } }
  it.each<[string, object, readonly (readonly [string, string])[]]>([
    [
      'enterprise_controls',
      {
        revision: 1,
        settings: { userModelPolicies: MAP, brandNew: { key: 'x' } },
        user: { id: 'u' },
      },
      [
        ['$.settings.brandNew', 'unknown'],
        ['$.settings.userModelPolicies.*.blockedModelIds', 'unreadable'],
        ['$.settings.userModelPolicies.*.note', 'unknown'],
      ],
    ],
    ['enterprise_controls', { revision: 1, settings: {} }, []],
    [
      'usage_limits',
      { userLimits: [{ email: null, limit: 'x' }] },
      [
        ['$.globalLimit', 'missing'],
        ['$.userLimits[].email', 'unnamed'],
        ['$.userLimits[].limit', 'unreadable'],
      ],
    ],
    [
      'readiness_reports',
      {
        reportId: 'r',
        createdAt: 1760000000000.5,
        repoUrl: 'x',
        apps: { 'apps/web': { description: 3 } },
        report: { lint: { numerator: null, denominator: 1, rationale: 'x', extra: 1 } },
      },
      [
        ['$.apps.*.description', 'type'],
        ['$.report.*.extra', 'unknown'],
      ],
    ],
    [
      'computers',
      {
        id: 'c',
        name: 'n',
        providerType: 'byom',
        createdAt: '1',
        provisioningSteps: [{ name: 'a' }],
      },
      [
        ['$.createdAt', 'type'],
        ['$.provisioningSteps[].id', 'unnamed'],
      ],
    ],
    [
      'computer_metrics',
      {
        timestamp: 't',
        cpuUsedPct: 1,
        cpuCount: 1,
        memUsed: 1,
        memTotal: 1,
        diskUsed: 'x',
        gpu: 1,
      },
      [
        ['$.diskTotal', 'missing'],
        ['$.diskUsed', 'unreadable'],
        ['$.gpu', 'unknown'],
      ],
    ],
    [
      'sessions',
      {
        sessionId: 's',
        status: 'idle',
        messageCount: 1,
        createdAt: 1760000000000.5,
        updatedAt: 2,
        sessionSettings: {
          tokenUsage: { serviceCredits: 1.5, other: 1 },
          childInclusiveTokenUsageBySessionId: { c: { x: 1 } },
          tags: [{ name: 'a', metadata: { any: [1] } }],
        },
      },
      [['$.sessionSettings.tokenUsage.other', 'unknown']],
    ],
    [
      'messages',
      { id: 'm', role: 'user', content: [{ type: 'x', y: 1 }, 'z'], createdAt: 1, isError: 'no' },
      [
        ['$.isError', 'unreadable'],
        ['$.updatedAt', 'missing'],
      ],
    ],
    [
      'hook_events',
      {
        event_id: 'e',
        recorded_at: '2026-01-14T00:00:00Z',
        input: { hook_event_name: 'Stop', session_id: 's', tool_input: { command: 'secret' } },
      },
      [
        ['$.input.cwd', 'missing'],
        ['$.input.tool_input', 'unknown'],
      ],
    ],
  ])('in %s is recorded: %j', async (resource, item, expected) => {
    const lake = await Lake.open()
    await lake.land(resource, '2026-01-14', '2026-01-15T03:00:00Z', [item])
    await lake.normalize()
    const found = await lake.rows(
      'select path, kind from {schema_drift} where path is not null order by all',
    )
    expect(found.map(({ path, kind }) => [path, kind])).toEqual(expected)
  })
})

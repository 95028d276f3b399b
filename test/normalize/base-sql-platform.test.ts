import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Cell, Database } from '../../src/lib/duckdb.ts'
import type { Entity } from './columns.ts'
import { flatten, openBase, type RawItem } from './flatten.ts'

let database: Database

beforeAll(async () => {
  database = await openBase()
})

afterAll(() => {
  database.close()
})

function rowsOf(
  entity: Entity,
  items: readonly RawItem[],
  ...columns: string[]
): Promise<(readonly Cell[])[]> {
  return flatten(database, entity, items, columns)
}

const item = (fields: unknown, place: Partial<RawItem> = {}): RawItem => ({
  item: fields,
  ...place,
})

describe('usage limits', () => {
  it('become the global one, and one per user, whatever the case and spaces of the address', async () => {
    const userLimits = [
      { email: 'A@x.example', limit: 5_000_000 },
      { email: ' a@X.example ', limit: 6_000_000 },
      { email: 'b@x.example', limit: null },
      { email: 'c@x.example', limit: '7000000' },
    ]
    const items = [item({ globalLimit: 2_000_000, userLimits })]
    expect(await rowsOf('usage_limits_days', items, 'global_limit')).toEqual([['2000000']])
    expect(await rowsOf('usage_limits_users', items, 'user_email', 'credit_limit')).toEqual([
      ['a@X.example', '6000000'],
      ['b@x.example', null],
      ['c@x.example', '7000000'],
    ])
  })

  it('that are null become NULL, and give no users', async () => {
    const items = [item({ globalLimit: null, userLimits: [] })]
    expect(await rowsOf('usage_limits_days', items, 'global_limit')).toEqual([[null]])
    expect(await rowsOf('usage_limits_users', items, 'user_email')).toEqual([])
  })

  it('of a day that was fetched twice are those of the later response', async () => {
    const items = [
      item({ globalLimit: 1, userLimits: [{ email: 'a', limit: 1 }] }, { ordinal: 0 }),
      item({ globalLimit: 2, userLimits: [] }, { ordinal: 1 }),
    ]
    expect(await rowsOf('usage_limits_days', items, 'global_limit')).toEqual([['2']])
    expect(await rowsOf('usage_limits_users', items, 'user_email')).toEqual([])
  })
})

describe('a readiness report', () => {
  const report = {
    reportId: 'r1',
    createdAt: 1767225600123,
    repoUrl: 'https://code.example/repo',
    apps: { web: { description: 'x' }, api: { description: 'y' } },
    commitHash: 'abc',
    branch: 'main',
    hasLocalChanges: true,
    hasNonRemoteCommits: false,
    modelUsed: { id: 'm1', reasoningEffort: 'low' },
    agentVersion: '1.2.3',
    report: {
      lint: { numerator: 1, denominator: 2, rationale: 'one of two' },
      tests: { numerator: null, denominator: 1, rationale: 'skipped' },
      docs: { numerator: 0, denominator: 1 },
      odd: 'no object',
    },
  }

  it('becomes a row', async () => {
    const columns = [
      ...['report_id', 'created_at', 'repo_url', 'commit_hash', 'branch', 'has_local_changes'],
      ...['has_non_remote_commits', 'model_id', 'reasoning_effort', 'agent_version', 'app_count'],
    ]
    expect(await rowsOf('readiness_reports', [item(report)], ...columns)).toEqual([
      [
        ...['r1', '2026-01-01 00:00:00.123+00', 'https://code.example/repo', 'abc', 'main'],
        ...[true, false, 'm1', 'low', '1.2.3', '2'],
      ],
    ])
  })

  it('has a row for each criterion, even with a numerator of null', async () => {
    const columns = ['report_id', 'criterion_id', 'numerator', 'denominator', 'rationale']
    expect(await rowsOf('readiness_criteria', [item(report)], ...columns)).toEqual([
      ['r1', 'docs', '0', '1', null],
      ['r1', 'lint', '1', '2', 'one of two'],
      ['r1', 'odd', null, null, null],
      ['r1', 'tests', null, '1', 'skipped'],
    ])
  })

  it('that is repeated in a file has the values and criteria of the later one', async () => {
    const items = [
      item({ reportId: 'r1', branch: 'new', report: { a: { numerator: 1 } } }, { ordinal: 1 }),
      item({ reportId: 'r1', branch: 'old', report: { b: { numerator: 1 } } }, { ordinal: 0 }),
    ]
    expect(await rowsOf('readiness_reports', items, 'branch')).toEqual([['new']])
    expect(await rowsOf('readiness_criteria', items, 'criterion_id')).toEqual([['a']])
  })
})

describe('a computer', () => {
  it.each([
    ['seconds', '1767225600', '2026-01-01 00:00:00+00'],
    ['fractions of seconds', '1767225600.25', '2026-01-01 00:00:00.25+00'],
    ['milliseconds', '1767225600123', '2026-01-01 00:00:00.123+00'],
    ['microseconds', '1767225600123456', '2026-01-01 00:00:00.123456+00'],
    ['nanoseconds', '1767225600123456789', '2026-01-01 00:00:00.123456+00'],
    ['a text', '"1767225600123"', '2026-01-01 00:00:00.123+00'],
    ['another text', '"yesterday"', null],
    ['a negative number', '-1', null],
    ['an extremely small number', '-1e+300', null],
    ['an extremely large number', '1e+300', null],
    ['null', 'null', null],
  ])('has its creation time read from %s', async (_, served, expected) => {
    const items = [{ item: `{"id": "c1", "createdAt": ${served}}` }]
    const columns = ['created_at_raw', 'created_at']
    const raw = served === 'null' ? null : served.replaceAll('"', '')
    expect(await rowsOf('computers', items, ...columns)).toEqual([[raw, expected]])
  })

  it('becomes a row, and each of its steps another', async () => {
    const served = {
      id: 'c1',
      name: 'box',
      providerType: 'byom',
      hostId: 'h1',
      hostname: 'box.example',
      status: 'active',
      remoteUser: 'dev',
      provisioningSteps: [
        {
          id: 'clone',
          name: 'Clone',
          status: 'completed',
          startedAt: 1767225600,
          completedAt: 1767225601,
        },
        {
          id: 'install-deps',
          status: 'failed',
          error: 'exit 1',
          startedAt: 1767225602000,
          installSessionId: 's1',
        },
        { id: 'install-deps', status: 'pending' },
        null,
      ],
    }
    const columns = ['computer_id', 'computer_name', 'provider_type', 'host_id', 'hostname']
    const more = ['status', 'remote_user']
    expect(await rowsOf('computers', [item(served)], ...columns, ...more)).toEqual([
      ['c1', 'box', 'byom', 'h1', 'box.example', 'active', 'dev'],
    ])
    const steps = ['step_id', 'status', 'error', 'started_at', 'completed_at', 'install_session_id']
    expect(await rowsOf('computer_steps', [item(served)], ...steps)).toEqual([
      [
        ...['clone', 'completed', null],
        ...['2026-01-01 00:00:00+00', '2026-01-01 00:00:01+00', null],
      ],
      ['install-deps', 'failed', 'exit 1', '2026-01-01 00:00:02+00', null, 's1'],
      ['install-deps', 'pending', null, null, null, null],
    ])
  })

  it('has the samples of its requests, each once', async () => {
    const request = '/api/v0/computers/c%2F1/metrics?start=2026-01-01T00%3A00%3A00Z'
    const sample = (cpuUsedPct: number, place: Partial<RawItem> = {}): RawItem =>
      item(
        {
          timestamp: '2026-01-14T05:00:00Z',
          cpuUsedPct,
          cpuCount: 0.5,
          memUsed: 1.5,
          memTotal: 17179869184,
          diskUsed: 3,
          diskTotal: 4,
        },
        { request, ...place },
      )
    const items = [sample(20, { ordinal: 1 }), sample(10, { ordinal: 0 })]
    const columns = ['computer_id', 'sampled_at', 'cpu_used_pct', 'cpu_count', 'mem_used']
    const more = ['mem_total', 'disk_used', 'disk_total']
    expect(await rowsOf('computer_metrics', items, ...columns, ...more)).toEqual([
      ['c/1', '2026-01-14 05:00:00+00', 20, 0.5, 1.5, 17179869184, 3, 4],
    ])
  })

  it.each([
    ['2026-01-14T06:00Z', '2026-01-14 06:00:00+00'],
    ['2026-01-14T06:00', '2026-01-14 06:00:00+00'],
    ['2026-01-14T06:00+01:30', '2026-01-14 04:30:00+00'],
    ['2026-01-14T06:00:00.5Z', '2026-01-14 06:00:00.5+00'],
    ['2026-01-14', '2026-01-14 00:00:00+00'],
    ['06:00Z', null],
  ])('has the time %s', async (timestamp, sampledAt) => {
    const items = [{ item: { timestamp }, request: '/api/v0/computers/c/metrics' }]
    expect(await rowsOf('computer_metrics', items, 'sampled_at')).toEqual([[sampledAt]])
  })
})

describe('a session', () => {
  const served = {
    sessionId: 's1',
    status: 'idle',
    messageCount: 12,
    createdAt: 1767225600000,
    updatedAt: 1767225601000,
    completedAt: 1767225602000,
    title: 'A title',
    computerId: 'c1',
    sessionSettings: {
      model: 'm1',
      specModeModel: 'm2',
      assistantActiveTimeMs: 90000,
      tokenUsage: {
        inputTokens: 1,
        outputTokens: 2,
        cacheReadTokens: 9007199254740993n.toString(),
      },
      inclusiveTokenUsage: { inputTokens: 11, serviceCredits: 12, thinkingTokens: 0 },
      childInclusiveTokenUsageBySessionId: { k1: { inputTokens: 5 }, k2: 6 },
      archivedAt: '2026-01-02T00:00:00Z',
      tags: [{ name: 'b' }, { name: 'a', metadata: {} }, { name: 'b' }, {}],
    },
  }

  it('becomes a row with its own tokens and those including its children', async () => {
    const columns = [
      ...['session_id', 'status', 'message_count', 'created_at', 'updated_at', 'completed_at'],
      ...['title', 'computer_id', 'model_id', 'spec_model_id', 'assistant_active_ms'],
      ...['archived_at', 'tag_names', 'child_count'],
    ]
    expect(await rowsOf('sessions', [item(served)], ...columns)).toEqual([
      [
        ...['s1', 'idle', '12', '2026-01-01 00:00:00+00', '2026-01-01 00:00:01+00'],
        ...['2026-01-01 00:00:02+00', 'A title', 'c1', 'm1', 'm2', '90000'],
        ...['2026-01-02 00:00:00+00', 'a,b', '2'],
      ],
    ])
    const own = ['input_tokens', 'output_tokens', 'cache_creation_tokens', 'cache_read_tokens']
    const all = ['inclusive_input_tokens', 'inclusive_thinking_tokens', 'inclusive_service_credits']
    expect(await rowsOf('sessions', [item(served)], ...own, 'service_credits', ...all)).toEqual([
      ['1', '2', null, '9007199254740993', null, '11', '0', '12.000000'],
    ])
  })

  it('has its children and its tags, each once', async () => {
    const children = await rowsOf(
      'session_children',
      [item(served)],
      'session_id',
      'child_session_id',
    )
    expect(children).toEqual([
      ['s1', 'k1'],
      ['s1', 'k2'],
    ])
    expect(await rowsOf('session_tags', [item(served)], 'session_id', 'tag_name')).toEqual([
      ['s1', 'a'],
      ['s1', 'b'],
    ])
  })

  it('with few fields has NULLs, never zeros', async () => {
    const items = [item({ status: 'idle' }, { request: '/api/v0/sessions/s9?computerId=c1' })]
    const columns = ['session_id', 'message_count', 'input_tokens', 'tag_names', 'child_count']
    expect(await rowsOf('sessions', items, ...columns)).toEqual([['s9', null, null, null, null]])
  })
})

describe('a message', () => {
  const request = '/api/v0/sessions/s1/messages/m%201?computerId=c1'

  it('becomes a row of the session in its request', async () => {
    const served = {
      id: 'm 1',
      role: 'user',
      userMessageSource: 'cli_tui',
      visibility: 'both',
      parentId: 'm0',
      createdAt: 1767225600,
      updatedAt: 1767225600123,
      content: [
        { type: 'text', text: 'abc', id: 't1' },
        { type: 'text', text: '\u{1f600}é' },
        { type: 'tool_use', text: 'not counted' },
      ],
      isUserVisible: true,
      isError: false,
    }
    const columns = [
      ...['session_id', 'message_id', 'role', 'source', 'visibility', 'parent_id', 'created_at'],
      ...['updated_at', 'block_count', 'text_block_count', 'text_length', 'is_user_visible'],
      'is_error',
    ]
    expect(await rowsOf('messages', [item(served, { request })], ...columns)).toEqual([
      [
        ...['s1', 'm 1', 'user', 'cli_tui', 'both', 'm0', '2026-01-01 00:00:00+00'],
        ...['2026-01-01 00:00:00.123+00', '3', '2', '5', true, false],
      ],
    ])
  })

  it('without content has NULL lengths, and with empty content lengths of 0', async () => {
    const columns = ['message_id', 'block_count', 'text_block_count', 'text_length']
    expect(await rowsOf('messages', [item({}, { request })], ...columns)).toEqual([
      ['m 1', null, null, null],
    ])
    expect(await rowsOf('messages', [item({ content: [] }, { request })], ...columns)).toEqual([
      ['m 1', '0', '0', '0'],
    ])
  })
})

describe('a hook event', () => {
  const event = (input: unknown): RawItem =>
    item({ event_id: 'e1', recorded_at: '2026-01-14T05:00:00.123Z', input })

  it('becomes a row', async () => {
    const input = { hook_event_name: 'Notification', session_id: 's1', cwd: '/w', message: 'Wait' }
    const columns = [
      'event_id',
      'hook_event',
      'session_id',
      'recorded_at',
      'cwd',
      'message',
      'reason',
    ]
    expect(await rowsOf('hook_events', [event(input)], ...columns)).toEqual([
      ['e1', 'Notification', 's1', '2026-01-14 05:00:00.123+00', '/w', 'Wait', null],
    ])
  })

  it.each([
    ['SessionEnd', 'error', true],
    ['SessionEnd', 'other', true],
    ['SessionEnd', 'clear', false],
    ['SessionEnd', undefined, null],
    ['Stop', 'error', null],
  ])('of %s with reason %s counts as failure: %s', async (name, reason, expected) => {
    const items = [event({ hook_event_name: name, reason })]
    expect(await rowsOf('hook_events', items, 'is_failure')).toEqual([[expected]])
  })

  it('that could not be read becomes a row without a name', async () => {
    const items = [event({ unreadable: '{"x' })]
    expect(await rowsOf('hook_events', items, 'event_id', 'hook_event')).toEqual([['e1', null]])
  })
})

it.each([
  ['2026-01-14T05:00:00Z', '2026-01-14 05:00:00+00'],
  ['2026-01-14 05:00', '2026-01-14 05:00:00+00'],
  ['2026-01-14T05:00:00+02:00', '2026-01-14 03:00:00+00'],
  ['infinity', null],
  ['epoch', null],
  ['', null],
])('a time served as %s is read as %s', async (served, expected) => {
  const items = [item({ event_id: 'e1', recorded_at: served })]
  expect(await rowsOf('hook_events', items, 'recorded_at')).toEqual([[expected]])
})

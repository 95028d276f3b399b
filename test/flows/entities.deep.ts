import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ENTITY_RESOURCES, type EntityResource } from '../../src/lake/resources.ts'
import { planEntities } from '../../src/extract/entities/sync.ts'
import { LandingDatabase } from '../../src/extract/land/raw-writer.ts'
import { readStatus } from '../../src/serve/status.ts'
import { entityRows } from '../../src/lake/intervals.ts'
import { dayOf } from '../../src/lib/days.ts'
import { writeAtomic } from '../../src/lib/files.ts'
import { command } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { DAY, landed, night, NIGHT, platform, wholeLake } from './entities-night.ts'
import { ledgerOf, readLake } from './platform.ts'

const ALL_BUT_HOOKS: readonly EntityResource[] = [
  'enterprise_controls',
  'usage_limits',
  'readiness_reports',
  'computers',
  'computer_metrics',
  'sessions',
]

function ids(items: readonly string[] | undefined, field: string): unknown[] {
  return (items ?? []).map((item) => (JSON.parse(item) as Record<string, unknown>)[field])
}

describe('a night', () => {
  it('lands every entity resource without a warning', async () => {
    const [emulator, data] = [await platform(), await temporaryFolder()]
    const { result, problems } = await night(emulator, data)
    expect(problems).toEqual([])
    expect(result).toMatchObject({ failed: 0, stoppedBy: null, unreachable: null })
    for (const resource of ALL_BUT_HOOKS) {
      const days = await landed(data, resource)
      expect(Object.keys(days), resource).toEqual(['2026-03-10'])
      expect(days['2026-03-10']?.length, resource).toBeGreaterThan(0)
    }
    expect(await landed(data, 'hook_events')).toEqual({})
  })

  it('lands nothing again that has landed before', async () => {
    const [emulator, data] = [await platform(), await temporaryFolder()]
    await night(emulator, data)
    const first = await wholeLake(data)
    const { result, problems, requests } = await night(emulator, data, { now: NIGHT + DAY })
    const second = await wholeLake(data)
    expect([result.failed, problems]).toEqual([0, []])
    const today = (resource: string) => second[resource]?.['2026-03-11'] ?? []
    for (const resource of Object.keys(first))
      expect(second[resource]).toMatchObject(first[resource] ?? {})
    const known = ids(first['enterprise_controls']?.['2026-03-10'], 'revision')
    expect(
      ids(today('enterprise_controls'), 'revision').filter((id) => known.includes(id)),
    ).toEqual([])
    expect(
      today('readiness_reports').filter((item) =>
        first['readiness_reports']?.['2026-03-10']?.includes(item),
      ),
    ).toEqual([])
    const samples = await readLake(
      data,
      `select split_part(request, '?', 1) as path, item, count(*) as n
         from '{lake}/raw/computer_metrics/org=org_demo/date=*/*.parquet' group by all having n > 1`,
    )
    expect(samples).toEqual([])
    expect(today('computer_metrics').length).toBeGreaterThan(500)
    expect(requests.filter((path) => path.includes('enterprise-controls'))).toHaveLength(1)
    expect(requests.filter((path) => path.includes('/metrics?start='))).not.toHaveLength(0)
  })

  it('that is fetched twice keeps equal rows once and adds new ones', async () => {
    const [emulator, data] = [await platform(), await temporaryFolder()]
    await night(emulator, data)
    const before = await wholeLake(data)
    await night(emulator, data)
    expect(await wholeLake(data)).toEqual(before)
    const ledger = await ledgerOf(data, 'org_demo')
    expect(ledger.get('enterprise_controls/2026-03-10')).toMatchObject({ versions: 1, attempts: 2 })
    await night(emulator, data, { now: NIGHT + 3_600_000 })
    const samples = (await landed(data, 'computer_metrics'))['2026-03-10'] ?? []
    expect(samples.length).toBeGreaterThan(before['computer_metrics']?.['2026-03-10']?.length ?? 0)
    expect(samples).toEqual(
      expect.arrayContaining(before['computer_metrics']?.['2026-03-10'] ?? []),
    )
    expect(new Set(samples).size).toBe(samples.length)
  })

  it('requests only the named resource', async () => {
    const [emulator, data] = [await platform(), await temporaryFolder()]
    const { requests } = await night(emulator, data, { only: ['usage_limits'] })
    expect(requests).toEqual(['/api/v0/organization/usage/limits/users'])
  })

  it('that was missed stays missing for resources that are only served as they are now', async () => {
    const [emulator, data] = [await platform(), await temporaryFolder()]
    await night(emulator, data)
    await night(emulator, data, { now: NIGHT + 2 * DAY })
    const rows = entityRows('org_demo', await ledgerOf(data, 'org_demo'))
    const statesOf = (resource: string) =>
      rows
        .filter((row) => row.resource === resource)
        .map(({ day, status, isRecoverable }) => [day, status, isRecoverable])
    for (const resource of ['usage_limits', 'computers']) {
      expect(statesOf(resource), resource).toEqual([
        ['2026-03-10', 'landed', true],
        ['2026-03-11', 'missing', false],
        ['2026-03-12', 'landed', true],
      ])
    }
    expect(statesOf('enterprise_controls').map(([day]) => day)).toEqual([
      '2026-03-10',
      '2026-03-12',
    ])
  })
})

it('a plan of entity resources lists the requests without sending any', async () => {
  const [emulator, data] = [await platform(), await temporaryFolder()]
  const plan = async () => {
    const ledger = await ledgerOf(data, 'org_demo')
    const selection = {
      resources: ENTITY_RESOURCES,
      sessions: ['a'],
      messages: [],
      refetch: false,
      areNamed: false,
      organisationOfHookEvents: null,
    }
    await using database = new LandingDatabase(data)
    const lake = { dataFolder: data, orgId: 'org_demo', ledger, database }
    const plans = await planEntities(lake, selection, dayOf(NIGHT))
    return Object.fromEntries(plans.map(({ resource, what }) => [resource, what]))
  }
  expect(await plan()).toEqual({
    hook_events: '0 recorded but not landed yet',
    enterprise_controls: 'the whole history',
    usage_limits: 'a snapshot of all',
    readiness_reports: 'every page',
    computers: 'a snapshot of all',
    computer_metrics: 'samples of 0 computers, since the last one',
    sessions: '1 due',
    messages: '0 due',
  })
  await night(emulator, data)
  const asked = emulator.requests.length
  const { enterprise_controls, computer_metrics, sessions } = await plan()
  expect(enterprise_controls).toMatch(/^revisions after \d+$/)
  expect(computer_metrics).toBe('samples of 4 computers, since the last one')
  expect(sessions).toMatch(/^[1-9] due$/)
  expect(emulator.requests).toHaveLength(asked)
})

it('status shows when each resource was last fetched, and which nights cannot be fetched any more', async () => {
  const [emulator, data] = [await platform(), await temporaryFolder()]
  await night(emulator, data)
  await night(emulator, data, { now: NIGHT + 2 * DAY })
  const [organisation] = (await readStatus(data, Date.now(), (orgId) => ledgerOf(data, orgId)))
    .organisations
  expect(organisation?.lastDay).toBe('2026-03-11')
  const byResource = Object.fromEntries(
    organisation?.entities.map((each) => [each.resource, each]) ?? [],
  )
  expect(byResource['usage_limits']).toEqual({
    resource: 'usage_limits',
    landed: 2,
    latestDay: '2026-03-12',
    missed: ['2026-03-11'],
    error: null,
  })
  expect(byResource['enterprise_controls']).toMatchObject({ latestDay: '2026-03-12', missed: [] })
  expect(byResource['hook_events']).toBeUndefined()
  const text = (await command(['status', '--data', data])).out
  expect(text).toMatch(/^readiness .* without a web application host .*: 'default'$/m)
  expect(text).toMatch(
    /usage_limits +changed on 2 days, last fetched 2026-03-12; 1 night cannot be fetched any more/,
  )
})

describe('a missing raw file', () => {
  it.each(ALL_BUT_HOOKS.filter((name) => name !== 'usage_limits' && name !== 'computers'))(
    'of %s is fetched again',
    async (resource) => {
      const [emulator, data] = [await platform(), await temporaryFolder()]
      await night(emulator, data)
      await night(emulator, data, { now: NIGHT + DAY })
      const before = Object.values(await landed(data, resource)).flat()
      const folder = join(data, 'lake', 'raw', resource, 'org=org_demo', 'date=2026-03-10')
      const file = (await ledgerOf(data, 'org_demo')).get(`${resource}/2026-03-10`)?.file ?? ''
      await writeAtomic(join(folder, file), 'damaged')
      const { problems } = await night(emulator, data, { now: NIGHT + DAY + 3_600_000 })
      expect(problems.join('\n')).toContain('its content is requested again')
      const after = Object.values(await landed(data, resource)).flat()
      if (resource === 'sessions')
        expect(new Set(ids(after, 'sessionId'))).toEqual(new Set(ids(before, 'sessionId')))
      else expect(new Set(after)).toEqual(new Set([...before, ...after]))
    },
  )

  it('of limits is not fetched again, and its night stays missing', async () => {
    const [emulator, data] = [await platform(), await temporaryFolder()]
    await night(emulator, data, { only: ['usage_limits'] })
    await rm(join(data, 'lake', 'raw', 'usage_limits'), { recursive: true })
    await night(emulator, data, { now: NIGHT + DAY, only: ['usage_limits'] })
    expect(Object.keys(await landed(data, 'usage_limits'))).toEqual(['2026-03-11'])
  })
})

it('two organisations in one data folder keep their entities apart', async () => {
  const data = await temporaryFolder()
  const [a, b] = [await platform({ orgId: 'org_a' }), await platform({ orgId: 'org_b', seed: 2 })]
  const only: readonly EntityResource[] = ['usage_limits', 'computers', 'computer_metrics']
  for (const now of [NIGHT, NIGHT + DAY]) {
    for (const [emulator, organisation] of [
      [a, 'a'],
      [b, 'b'],
    ] as const) {
      expect((await night(emulator, data, { now, only, organisation })).result.failed).toBe(0)
    }
  }
  const [ofA, ofB] = [
    await landed(data, 'computers', 'org_a'),
    await landed(data, 'computers', 'org_b'),
  ]
  expect(Object.keys(ofA)).toEqual(['2026-03-10', '2026-03-11'])
  expect(Object.keys(ofB)).toEqual(['2026-03-10', '2026-03-11'])
  expect(ofA['2026-03-10']).not.toEqual(ofB['2026-03-10'])
})

it.each([
  ['after one whose time was ahead', ['2026-03-10T01:00:00Z', '2031-01-01T00:00:00Z']],
  ['after one without a time', ['2026-03-10T01:00:00Z', 'soon']],
  ['after one without seconds', ['2026-03-10T01:00Z']],
])('samples since a computer’s last land once, also %s', async (_, timestamps) => {
  const emulator = await platform({
    intercept: ({ path }) => {
      if (path.endsWith('/computers')) return Response.json({ computers: [{ id: 'c' }] })
      if (!path.includes('/metrics')) return undefined
      const start = new URL(path, 'http://platform').searchParams.get('start') ?? ''
      const since = timestamps.filter((timestamp) => !(Date.parse(timestamp) < Date.parse(start)))
      return Response.json(since.map((timestamp) => ({ timestamp })))
    },
  })
  const data = await temporaryFolder()
  const only: readonly EntityResource[] = ['computers', 'computer_metrics']
  await night(emulator, data, { only })
  timestamps.push('2026-03-11T01:00:00Z')
  const { requests } = await night(emulator, data, { only, now: NIGHT + DAY })
  expect(requests.at(-1)).toContain('/metrics?start=2026-03-10T01')
  const landedThen = (await landed(data, 'computer_metrics'))['2026-03-11']
  expect(ids(landedThen, 'timestamp')).toEqual(['2026-03-11T01:00:00Z'])
})

describe('sessions and messages', () => {
  const only: readonly EntityResource[] = ['sessions', 'messages']

  it('are fetched for the ids in the seeds, and for the children of those sessions', async () => {
    const [emulator, data] = [await platform(), await temporaryFolder()]
    const parent = emulator.sessionIds()[3] ?? ''
    const child = emulator.sessionIds()[4] ?? ''
    const [message = ''] = emulator.messageIds(parent)
    await writeAtomic(join(data, 'seeds', 'sessions.csv'), `session_id\n${parent}\n`)
    await writeAtomic(
      join(data, 'seeds', 'messages.csv'),
      `session_id,message_id\r\n${parent},${message}\r\n`,
    )
    const { problems } = await night(emulator, data, { only })
    expect(problems).toEqual([])
    expect(ids((await landed(data, 'sessions'))['2026-03-10'], 'sessionId')).toEqual(
      expect.arrayContaining([parent, child]),
    )
    expect(ids((await landed(data, 'messages'))['2026-03-10'], 'id')).toEqual([message])
  })

  it('are requested when named by an argument, whether due or not', async () => {
    const [emulator, data] = [await platform(), await temporaryFolder()]
    const sessionId = emulator.sessionIds()[7] ?? ''
    const [messageId = ''] = emulator.messageIds(sessionId)
    const entities = { sessions: [sessionId], messages: [{ sessionId, messageId }] }
    const { requests } = await night(emulator, data, { only, entities })
    expect(requests).toEqual([
      `/api/v0/sessions/${sessionId}`,
      `/api/v0/sessions/${sessionId}/messages/${messageId}`,
    ])
    const month = { now: NIGHT + 31 * DAY, only }
    expect((await night(emulator, data, { ...month, entities })).requests).toHaveLength(2)
    expect((await night(emulator, data, month)).requests).toEqual([])
  })

  it('are fetched again while they may change, whatever the unit of the times of messages', async () => {
    const emulator = await platform({
      intercept: ({ path }) =>
        path.includes('/messages/')
          ? Response.json({ id: 'm', role: 'user', content: [], updatedAt: NIGHT / 1000 })
          : undefined,
    })
    const data = await temporaryFolder()
    const entities = { messages: [{ sessionId: 's', messageId: 'm' }] }
    const seed = join(data, 'seeds', 'messages.csv')
    await writeAtomic(seed, 'session_id,message_id\ns,m\n')
    await night(emulator, data, { only: ['messages'], entities })
    const next = { now: NIGHT + DAY, only: ['messages'] } as const
    expect((await night(emulator, data, next)).requests).toHaveLength(1)
    const late = { now: NIGHT + 9 * DAY, only: ['messages'] } as const
    expect((await night(emulator, data, late)).requests).toHaveLength(1)
    expect((await night(emulator, data, late)).requests).toEqual([])
  })

  it('are fetched 500 a night, those that never landed first, and the others are reported', async () => {
    const asked: string[] = []
    const emulator = await platform({
      intercept: ({ path }) => {
        const id = /sessions\/(many-\d+)$/.exec(path)?.[1]
        if (id === undefined) return undefined
        asked.push(id)
        return Response.json({
          sessionId: id,
          status: 'running',
          messageCount: 1,
          createdAt: 1,
          updatedAt: 1,
        })
      },
    })
    const data = await temporaryFolder()
    const all = Array.from({ length: 503 }, (_, index) => `many-${index}`)
    await writeAtomic(join(data, 'seeds', 'sessions.csv'), ['session_id', ...all, ''].join('\n'))
    const first = await night(emulator, data, { only: ['sessions'] })
    expect(first.problems).toEqual(['sessions of org_demo: 3 are left for the next night'])
    expect(asked).toHaveLength(500)
    const left = all.filter((id) => !asked.includes(id))
    asked.length = 0
    await night(emulator, data, { now: NIGHT + DAY, only: ['sessions'] })
    expect(asked.slice(0, 3).sort()).toEqual(left.sort())
    expect(asked).toHaveLength(500)
  })

  it('that the platform does not serve are requested on three nights, then less and less often, and reported once', async () => {
    const [emulator, data] = [await platform(), await temporaryFolder()]
    await writeAtomic(join(data, 'seeds', 'sessions.csv'), 'session_id\nunknown-session\n')
    const nightsAsked: number[] = []
    for (let count = 0; count < 16; count += 1) {
      const { requests, result, problems } = await night(emulator, data, {
        now: NIGHT + count * DAY,
        only,
      })
      if (requests.length > 0) nightsAsked.push(count)
      expect(result.failed).toBe(0)
      expect(problems.join()).toBe(
        count > 0
          ? ''
          : 'sessions of org_demo: the platform does not serve unknown-session; an id is requested in three nights, then at growing intervals',
      )
    }
    expect(nightsAsked).toEqual([0, 1, 2, 6, 14])
  })

  it('that are named and absent or forbidden are reported each time', async () => {
    const answers = new Map([
      ['absent', 404],
      ['hidden', 403],
    ])
    const emulator = await platform({
      intercept: ({ path }) => {
        const status = answers.get(path.split('/').at(-1) ?? '')
        return status === undefined ? undefined : new Response('{}', { status })
      },
    })
    const data = await temporaryFolder()
    const sessionId = emulator.sessionIds()[7] ?? ''
    const entities = {
      sessions: ['absent', 'hidden', sessionId],
      messages: [{ sessionId, messageId: 'absent' }],
    }
    for (let count = 0; count < 4; count += 1) {
      const now = NIGHT + count * DAY
      const { result, problems } = await night(emulator, data, { now, only, entities })
      expect(result.failed).toBe(0)
      expect(problems).toEqual([
        'sessions of org_demo: requested by id, but not found on the platform (404): absent',
        'sessions of org_demo: requested by id, but forbidden for this key (403): hidden',
        `messages of org_demo: requested by id, but not found on the platform (404): ${sessionId}/absent`,
      ])
    }
  })

  it('stop the night with the line of a seed that cannot be read', async () => {
    const [emulator, data] = [await platform(), await temporaryFolder()]
    await writeAtomic(join(data, 'seeds', 'sessions.csv'), 'session_id\na,b\n')
    await expect(night(emulator, data, { only })).rejects.toThrow(
      'sessions.csv:2: the line has 2 fields, the first line has 1',
    )
    await writeAtomic(join(data, 'seeds', 'sessions.csv'), 'id\na\n')
    await expect(night(emulator, data, { only })).rejects.toThrow(
      "sessions.csv:1: there is no column 'session_id'",
    )
  })
})

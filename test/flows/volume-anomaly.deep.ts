import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { RunEvent } from '../../src/lib/events.ts'
import { HISTORY_START } from '../../src/lib/days.ts'
import { readStatus } from '../../src/serve/status.ts'
import { intervalKey, type Interval } from '../../src/lake/ledger.ts'
import { command } from '../support/command.ts'
import { sendJson, temporaryFolder, testServer, testWorld } from '../support/helpers.ts'
import { ledgerOf, syncFrom } from './platform.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
/** The first day of history is 40 days old, so it is final once it has landed. */
const FIRST_NIGHT = Date.parse('2026-02-23T02:00:00Z')
/** It is 58 days old: a recheck of final days is due. */
const RECHECK_NIGHT = FIRST_NIGHT + 18 * DAY

interface Recheck {
  readonly interval: Interval | undefined
  readonly shrunk: readonly RunEvent[]
  readonly requests: number
  readonly failed: number
}

/** One day of one resource, whose rows the test changes between fetches. */
async function dayOf(resource: string, first: readonly object[]) {
  const data = await temporaryFolder()
  let rows = first
  let now = FIRST_NIGHT
  const { url, requests } = await testServer((request, response) => {
    const isIdentifying = request.url?.includes('/activity?') === true && resource !== 'activity'
    const data = isIdentifying ? [] : rows.map((row) => ({ date: HISTORY_START, ...row }))
    const body = { data, meta: { org_id: 'o', has_more: false } }
    sendJson(response, 200, body, { date: new Date(now).toUTCString() })
  })
  const folder = join(data, 'lake', 'raw', resource, 'org=o', `date=${HISTORY_START}`)
  return {
    data,
    versions: async () => (await readdir(folder)).length,
    fetch: async (at: number, served: readonly object[], refetch = false): Promise<Recheck> => {
      now = at
      rows = served
      const before = requests.length
      const world = testWorld(now)
      const plan = { within: { first: HISTORY_START, last: HISTORY_START }, refetch }
      const { result } = await syncFrom(url, data, { only: [resource], world, plan })
      return {
        interval: (await ledgerOf(data, 'o')).get(intervalKey(resource, HISTORY_START)),
        shrunk: world.events.filter(({ type }) => type === 'interval.shrunk'),
        requests: requests.length - before - 1,
        failed: result.failed,
      }
    },
  }
}

const users = (count: number): object[] =>
  Array.from({ length: count }, (_, index) => ({ user_id: `user-${index}` }))

describe('a final day of users that comes back empty', () => {
  it('keeps its version, and a volume anomaly is reported', async () => {
    const { fetch, versions } = await dayOf('users', users(3))
    await fetch(FIRST_NIGHT, users(3))
    const { interval, shrunk, failed } = await fetch(RECHECK_NIGHT, [])
    expect(interval).toMatchObject({ status: 'landed', rowCount: 3, versions: 1, attempts: 2 })
    expect(interval?.fetchedAt).toBe(FIRST_NIGHT)
    expect(interval?.suspect).toMatchObject({ rowCount: 0, seenAt: RECHECK_NIGHT })
    expect(shrunk).toMatchObject([
      { day: HISTORY_START, sizeBefore: 3, size: 0, isConfirmed: false },
    ])
    expect(failed).toBe(0)
    expect(await versions()).toBe(1)
  })

  it('is rechecked by the next run, but not within the hour', async () => {
    const { fetch } = await dayOf('users', users(3))
    await fetch(FIRST_NIGHT, users(3))
    await fetch(RECHECK_NIGHT, [])
    expect(await fetch(RECHECK_NIGHT + HOUR / 2, [])).toMatchObject({ requests: 0 })
    expect(await fetch(RECHECK_NIGHT + DAY, [])).toMatchObject({ requests: 1 })
  })

  it('is no longer pending when the second recheck finds the old rows', async () => {
    const { fetch, versions } = await dayOf('users', users(3))
    await fetch(FIRST_NIGHT, users(3))
    await fetch(RECHECK_NIGHT, [])
    const { interval, shrunk } = await fetch(RECHECK_NIGHT + DAY, users(3))
    expect(interval).toMatchObject({ rowCount: 3, versions: 1, fetchedAt: RECHECK_NIGHT + DAY })
    expect(interval?.suspect).toBeUndefined()
    expect(shrunk).toEqual([])
    expect(await versions()).toBe(1)
  })

  it('lands as empty when the second recheck confirms it, and the change is reported', async () => {
    const { fetch, versions } = await dayOf('users', users(3))
    await fetch(FIRST_NIGHT, users(3))
    await fetch(RECHECK_NIGHT, [])
    const { interval, shrunk } = await fetch(RECHECK_NIGHT + DAY, [])
    expect(interval).toMatchObject({ status: 'empty', rowCount: 0, versions: 2 })
    expect(interval?.suspect).toBeUndefined()
    expect(shrunk).toMatchObject([{ sizeBefore: 3, size: 0, isConfirmed: true }])
    expect(await versions()).toBe(2)
    expect(await fetch(RECHECK_NIGHT + 2 * DAY, [])).toMatchObject({ requests: 0 })
  })

  it('must come back with the same rows twice to land', async () => {
    const { fetch, versions } = await dayOf('users', users(9))
    await fetch(FIRST_NIGHT, users(9))
    await fetch(RECHECK_NIGHT, [])
    const other = await fetch(RECHECK_NIGHT + DAY, users(2))
    expect(other.interval?.suspect).toMatchObject({ rowCount: 2, seenAt: RECHECK_NIGHT + DAY })
    expect(await versions()).toBe(1)
    const { interval } = await fetch(RECHECK_NIGHT + 2 * DAY, users(2))
    expect(interval).toMatchObject({ rowCount: 2, versions: 2 })
  })

  it('lands when --refetch confirms it, however soon', async () => {
    const { fetch, versions } = await dayOf('users', users(3))
    await fetch(FIRST_NIGHT, users(3))
    const first = await fetch(FIRST_NIGHT + HOUR, [], true)
    expect(first.interval?.suspect).toBeDefined()
    const second = await fetch(FIRST_NIGHT + HOUR + 5_000, [], true)
    expect(second.interval).toMatchObject({ status: 'empty', versions: 2 })
    expect(await versions()).toBe(2)
  })

  it('is shown by status as pending', async () => {
    const { data, fetch } = await dayOf('users', users(3))
    await fetch(FIRST_NIGHT, users(3))
    await fetch(RECHECK_NIGHT, [])
    const { organisations } = await readStatus(data, Date.now(), (orgId) => ledgerOf(data, orgId))
    const status = organisations[0]?.resources.find(({ resource }) => resource === 'users')
    expect(status).toMatchObject({ landed: 1, suspects: [HISTORY_START] })
    const { out } = await command(['status'], { AGENT_WAREHOUSE_DATA: data })
    expect(out).toContain(`pending: users ${HISTORY_START} came back much smaller`)
  })
})

describe('the volume check of a final day', () => {
  const rows = (count: number): object[] =>
    Array.from({ length: count }, (_, index) => ({ group_key: `tool ${index}`, tool_calls: 1 }))
  const active = (count: unknown): object[] => [{ daily_active_users: count, sessions: 1 }]

  it.each([
    ['users', 'fewer than half of its users is an anomaly', users(12), users(5), true],
    ['users', 'half of its users is no anomaly', users(12), users(6), false],
    [
      'users',
      'another user in place of its only one is no anomaly',
      users(1),
      [{ user_id: 'x' }],
      false,
    ],
    ['tools_by_name', 'fewer than half of its rows is an anomaly', rows(9), rows(4), true],
    ['tools_by_name', 'more than half of its rows is no anomaly', rows(9), rows(5), false],
    [
      'tokens',
      'its one row with other values is no anomaly',
      [{ billable_tokens: 9 }],
      [{ billable_tokens: 1 }],
      false,
    ],
    ['tokens', 'no row in place of its one is an anomaly', [{ billable_tokens: 9 }], [], true],
    [
      'activity',
      'fewer than half of its active users is an anomaly',
      active(100),
      active(49),
      true,
    ],
    ['activity', 'half of its active users is no anomaly', active(100), active(50), false],
    [
      'activity',
      'fewer active users, written as text, is an anomaly',
      active('100.0'),
      active('40'),
      true,
    ],
    ['activity', 'no count of active users is an anomaly', active(100), active(null), true],
    ['activity', 'no row in place of one without active users is an anomaly', active(0), [], true],
    ['activity', 'no active users, as before, is no anomaly', active(0), active('0'), false],
    ['productivity', 'no rows, as before, is no anomaly', [], [], false],
  ])('of %s: %s', async (resource, _, before, after, isAnomaly) => {
    const { fetch } = await dayOf(resource, before)
    await fetch(FIRST_NIGHT, before)
    const { interval, shrunk } = await fetch(FIRST_NIGHT + HOUR, after, true)
    expect(interval?.suspect !== undefined).toBe(isAnomaly)
    expect(shrunk).toHaveLength(isAnomaly ? 1 : 0)
  })

  it('is not checked before the day is final, because it may still change', async () => {
    const { fetch } = await dayOf('users', users(9))
    const young = Date.parse('2026-01-20T02:00:00Z')
    await fetch(young, users(9))
    const { interval, shrunk } = await fetch(young + HOUR, [], true)
    expect(interval).toMatchObject({ status: 'empty', versions: 2 })
    expect(shrunk).toEqual([])
  })
})

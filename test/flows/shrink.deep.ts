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
/** The first day of history is 40 days old, and so settled once it has landed. */
const FIRST_NIGHT = Date.parse('2026-02-23T02:00:00Z')
/** It is 58 days old: it is swept. */
const SWEEP_NIGHT = FIRST_NIGHT + 18 * DAY

interface Looked {
  readonly interval: Interval | undefined
  readonly shrunk: readonly RunEvent[]
  readonly requests: number
  readonly failed: number
}

/** One day of one resource, whose rows the test changes between looks. */
async function dayOf(resource: string, first: readonly object[]) {
  const data = await temporaryFolder()
  let rows = first
  let now = FIRST_NIGHT
  const { url, requests } = await testServer((request, response) => {
    const isHello = request.url?.includes('/activity?') === true && resource !== 'activity'
    const data = isHello ? [] : rows.map((row) => ({ date: HISTORY_START, ...row }))
    const body = { data, meta: { org_id: 'o', has_more: false } }
    sendJson(response, 200, body, { date: new Date(now).toUTCString() })
  })
  const folder = join(data, 'lake', 'raw', resource, 'org=o', `date=${HISTORY_START}`)
  return {
    data,
    versions: async () => (await readdir(folder)).length,
    look: async (at: number, served: readonly object[], refetch = false): Promise<Looked> => {
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

describe('a settled day of users that is served empty', () => {
  it('stays as it was landed, and says so', async () => {
    const { look, versions } = await dayOf('users', users(3))
    await look(FIRST_NIGHT, users(3))
    const { interval, shrunk, failed } = await look(SWEEP_NIGHT, [])
    expect(interval).toMatchObject({ status: 'landed', rowCount: 3, versions: 1, attempts: 2 })
    expect(interval?.fetchedAt).toBe(FIRST_NIGHT)
    expect(interval?.suspect).toMatchObject({ rowCount: 0, seenAt: SWEEP_NIGHT })
    expect(shrunk).toMatchObject([
      { day: HISTORY_START, sizeBefore: 3, size: 0, isConfirmed: false },
    ])
    expect(failed).toBe(0)
    expect(await versions()).toBe(1)
  })

  it('is looked at again by the next run, but not within the hour', async () => {
    const { look } = await dayOf('users', users(3))
    await look(FIRST_NIGHT, users(3))
    await look(SWEEP_NIGHT, [])
    expect(await look(SWEEP_NIGHT + HOUR / 2, [])).toMatchObject({ requests: 0 })
    expect(await look(SWEEP_NIGHT + DAY, [])).toMatchObject({ requests: 1 })
  })

  it('was nothing when the second recheck finds the old rows', async () => {
    const { look, versions } = await dayOf('users', users(3))
    await look(FIRST_NIGHT, users(3))
    await look(SWEEP_NIGHT, [])
    const { interval, shrunk } = await look(SWEEP_NIGHT + DAY, users(3))
    expect(interval).toMatchObject({ rowCount: 3, versions: 1, fetchedAt: SWEEP_NIGHT + DAY })
    expect(interval?.suspect).toBeUndefined()
    expect(shrunk).toEqual([])
    expect(await versions()).toBe(1)
  })

  it('is empty when the second recheck finds it so, and says so', async () => {
    const { look, versions } = await dayOf('users', users(3))
    await look(FIRST_NIGHT, users(3))
    await look(SWEEP_NIGHT, [])
    const { interval, shrunk } = await look(SWEEP_NIGHT + DAY, [])
    expect(interval).toMatchObject({ status: 'empty', rowCount: 0, versions: 2 })
    expect(interval?.suspect).toBeUndefined()
    expect(shrunk).toMatchObject([{ sizeBefore: 3, size: 0, isConfirmed: true }])
    expect(await versions()).toBe(2)
    expect(await look(SWEEP_NIGHT + 2 * DAY, [])).toMatchObject({ requests: 0 })
  })

  it('must be served with the same rows twice', async () => {
    const { look, versions } = await dayOf('users', users(9))
    await look(FIRST_NIGHT, users(9))
    await look(SWEEP_NIGHT, [])
    const other = await look(SWEEP_NIGHT + DAY, users(2))
    expect(other.interval?.suspect).toMatchObject({ rowCount: 2, seenAt: SWEEP_NIGHT + DAY })
    expect(await versions()).toBe(1)
    const { interval } = await look(SWEEP_NIGHT + 2 * DAY, users(2))
    expect(interval).toMatchObject({ rowCount: 2, versions: 2 })
  })

  it('counts when it is asked for with --refetch twice, however soon', async () => {
    const { look, versions } = await dayOf('users', users(3))
    await look(FIRST_NIGHT, users(3))
    const first = await look(FIRST_NIGHT + HOUR, [], true)
    expect(first.interval?.suspect).toBeDefined()
    const second = await look(FIRST_NIGHT + HOUR + 5_000, [], true)
    expect(second.interval).toMatchObject({ status: 'empty', versions: 2 })
    expect(await versions()).toBe(2)
  })

  it('is told by status', async () => {
    const { data, look } = await dayOf('users', users(3))
    await look(FIRST_NIGHT, users(3))
    await look(SWEEP_NIGHT, [])
    const { organisations } = await readStatus(data, Date.now(), (orgId) => ledgerOf(data, orgId))
    const status = organisations[0]?.resources.find(({ resource }) => resource === 'users')
    expect(status).toMatchObject({ landed: 1, suspects: [HISTORY_START] })
    const { out } = await command(['status'], { AGENT_WAREHOUSE_DATA: data })
    expect(out).toContain(`pending: users ${HISTORY_START} came back much smaller`)
  })
})

describe('the size of a settled day', () => {
  const rows = (count: number): object[] =>
    Array.from({ length: count }, (_, index) => ({ group_key: `tool ${index}`, tool_calls: 1 }))
  const active = (count: unknown): object[] => [{ daily_active_users: count, sessions: 1 }]

  it.each([
    ['users', 'its users', users(12), users(5), true],
    ['users', 'its users', users(12), users(6), false],
    ['users', 'its users, though a day of one may change', users(1), [{ user_id: 'x' }], false],
    ['tools_by_name', 'its rows', rows(9), rows(4), true],
    ['tools_by_name', 'its rows', rows(9), rows(5), false],
    [
      'tokens',
      'its one row, whatever it says',
      [{ billable_tokens: 9 }],
      [{ billable_tokens: 1 }],
      false,
    ],
    ['tokens', 'its one row', [{ billable_tokens: 9 }], [], true],
    ['activity', 'its active users', active(100), active(49), true],
    ['activity', 'its active users', active(100), active(50), false],
    ['activity', 'its active users, spelt as they may be', active('100.0'), active('40'), true],
    ['activity', 'its active users, said no more', active(100), active(null), true],
    ['activity', 'its row, where nobody was active', active(0), [], true],
    ['activity', 'its active users, none as before', active(0), active('0'), false],
    ['productivity', 'nothing, where there was nothing', [], [], false],
  ])('of %s is %s', async (resource, _, before, after, isDoubted) => {
    const { look } = await dayOf(resource, before)
    await look(FIRST_NIGHT, before)
    const { interval, shrunk } = await look(FIRST_NIGHT + HOUR, after, true)
    expect(interval?.suspect !== undefined).toBe(isDoubted)
    expect(shrunk).toHaveLength(isDoubted ? 1 : 0)
  })

  it('is not guarded before the day is settled: it may still change', async () => {
    const { look } = await dayOf('users', users(9))
    const young = Date.parse('2026-01-20T02:00:00Z')
    await look(young, users(9))
    const { interval, shrunk } = await look(young + HOUR, [], true)
    expect(interval).toMatchObject({ status: 'empty', versions: 2 })
    expect(shrunk).toEqual([])
  })
})

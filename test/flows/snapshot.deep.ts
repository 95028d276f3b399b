import { describe, expect, it, vi } from 'vitest'
import { IntervalRecorder } from '../../src/extract/land/interval-recorder.ts'
import { RESOURCES } from '../../src/lake/resources.ts'
import type { Day } from '../../src/lib/days.ts'
import { DeferredError } from '../../src/lib/errors.ts'
import { sendJson, temporaryFolder } from '../support/helpers.ts'
import { LAST_DAY, pagedPlatform, refuse, usersIn, type Paged } from './paged.ts'
import { ledgerOf, syncFrom } from './platform.ts'

const TOTALS = ['activity', 'tokens_by_model', 'productivity']

const all = (n: number, users = 5) =>
  Array.from({ length: users }, (_, at) => [`u${at + 1}`, n, Math.floor(at / 2) + 1, at % 2])

/** Five users, two a page. */
const platform = (): Promise<Paged> => pagedPlatform({ users: 5, perPage: 2 })

/** The number of requests by resource, with the identifying request. */
function askedFor(paged: Paged): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { endpoint, query } of paged.asked) {
    const groupBy = query.get('group_by')
    const resource = RESOURCES.find(
      (r) => r.endpoint === endpoint && (r.groupBy ?? null) === groupBy,
    )
    const name = resource?.name ?? endpoint
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

/** The requests of the consistency check: those for totals after the last page of users. */
function requestsOfCheck(paged: Paged): number {
  const last = paged.asked.findLastIndex(({ endpoint }) => endpoint === 'users')
  return paged.asked.length - 1 - last
}

const sync = (paged: Paged, data: string, only?: readonly string[], at?: string) =>
  syncFrom(paged.url, data, { world: paged.worldAt(at), ...(only === undefined ? {} : { only }) })

/** Fetches the last day with its totals, whether or not it is due. */
async function refetch(paged: Paged, data: string, at?: string): Promise<void> {
  const resources = RESOURCES.filter(({ name }) => [...TOTALS, 'users'].includes(name))
  const within = { first: LAST_DAY as Day, last: LAST_DAY as Day }
  const plan = { resources, within, refetch: true }
  await syncFrom(paged.url, data, { world: paged.worldAt(at), plan })
}

async function unverified(data: string): Promise<string[]> {
  const intervals = [...(await ledgerOf(data, 'o')).values()]
  return intervals.filter((each) => typeof each.witness === 'string').map(({ day }) => day)
}

describe('an idle night', () => {
  it('with days of several pages costs exactly three requests for the consistency check', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    await sync(paged, data)
    paged.forget()
    const { result } = await sync(paged, data, undefined, '2026-01-18T06:00:00Z')
    expect(result).toMatchObject({ failed: 0, stoppedBy: null })
    const ofUsers = paged.asked.filter(({ endpoint }) => endpoint === 'users')
    const days = new Set(ofUsers.map(({ day }) => day))
    expect(days.size).toBeGreaterThan(1)
    expect(paged.cursors()).toHaveLength(3 * days.size)
    expect(requestsOfCheck(paged)).toBe(3)
    expect(askedFor(paged)).toEqual({
      ...Object.fromEntries(RESOURCES.map(({ name }) => [name, 1])),
      activity: 3, // the identifying request, the window, the check
      tokens_by_model: 2,
      productivity: 2,
      users: 3 * days.size,
    })
    expect(await unverified(data)).toEqual([])
  })

  it('requests the totals only of the new day, because the other days are unchanged', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    await sync(paged, data)
    paged.forget()
    await sync(paged, data, undefined, '2026-01-18T06:00:00Z')
    const checks = paged.asked.slice(-requestsOfCheck(paged))
    expect(checks.map(({ query }) => [query.get('startDate'), query.get('endDate')])).toEqual(
      TOTALS.map(() => ['2026-01-17', '2026-01-17']),
    )
  })

  it('with days of one page costs no request for the consistency check', async () => {
    const [paged, data] = [await pagedPlatform({ users: 5, perPage: 5 }), await temporaryFolder()]
    await sync(paged, data)
    expect(requestsOfCheck(paged)).toBe(0)
    expect(askedFor(paged)).toMatchObject({ activity: 2, tokens_by_model: 1, productivity: 1 })
  })
})

describe('law 9: a day whose totals change between its first and its last page', () => {
  it('is fetched again, so that its rows come from one snapshot', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    paged.disturb = ({ day, cursor }) => {
      if (day === LAST_DAY && cursor === 'u2') paged.n = 2
      return undefined
    }
    const { result, world } = await sync(paged, data)
    expect(result).toMatchObject({ failed: 0, stoppedBy: null })
    expect(await usersIn(data, LAST_DAY)).toEqual(all(2))
    expect(paged.cursors(LAST_DAY)).toEqual(['', 'u2', 'u4', '', 'u2', 'u4'])
    expect(requestsOfCheck(paged)).toBe(3)
    expect(await unverified(data)).toEqual([])
    const ledger = await ledgerOf(data, 'o')
    for (const resource of TOTALS) {
      expect(ledger.get(`${resource}/${LAST_DAY}`)).toMatchObject({ versions: 2 })
    }
    expect(world.events).toContainEqual({
      type: 'warning',
      message: `the totals of ${LAST_DAY} changed while its users were read: it is read again`,
    })
  })

  it('is the only day that is fetched again', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    const moved = new Set<string>()
    paged.nOf = (day) => (moved.has(day) ? 2 : 1)
    paged.disturb = ({ day, cursor }) => {
      if (day === LAST_DAY && cursor === 'u4') moved.add(day)
      return undefined
    }
    await sync(paged, data)
    expect(paged.cursors(LAST_DAY)).toHaveLength(6)
    expect(paged.cursors('2026-01-15')).toHaveLength(3)
    expect(await usersIn(data, LAST_DAY)).toEqual(all(2))
    expect(await usersIn(data, '2026-01-15')).toEqual(all(1))
  })

  it('is paginated three times at most, then kept with a warning', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    paged.disturb = ({ endpoint }) => {
      if (endpoint === 'users') paged.n += 1
      return undefined
    }
    const { result, world } = await sync(paged, data)
    expect(result).toMatchObject({ failed: 0, stoppedBy: null })
    expect(paged.cursors(LAST_DAY)).toHaveLength(9)
    expect(await unverified(data)).toEqual([])
    expect(world.events).toContainEqual(
      expect.objectContaining({
        message: expect.stringContaining('it is kept after 3 attempts') as string,
      }),
    )
    paged.disturb = () => undefined
    paged.forget()
    await sync(paged, data)
    expect(paged.asked).toHaveLength(1)
  })

  it('is fetched again when they change while a pagination is interrupted', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    paged.disturb = ({ cursor }, response) => cursor === 'u4' && refuse(response, 500)
    await sync(paged, data)
    paged.disturb = () => undefined
    paged.n = 2
    paged.forget()
    await sync(paged, data)
    expect(paged.cursors(LAST_DAY)).toEqual(['u4', '', 'u2', 'u4'])
    expect(await usersIn(data, LAST_DAY)).toEqual(all(2))
  })

  it('is fetched again when the new totals landed before the pagination resumed', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    paged.disturb = ({ cursor }, response) => cursor === 'u4' && refuse(response, 500)
    await sync(paged, data)
    paged.disturb = () => undefined
    paged.n = 2
    const plan = { resources: RESOURCES.filter(({ name }) => TOTALS.includes(name)), refetch: true }
    await syncFrom(paged.url, data, { world: paged.worldAt(), plan })
    paged.forget()
    await sync(paged, data)
    expect(paged.cursors(LAST_DAY)).toEqual(['u4', '', 'u2', 'u4'])
    expect(await usersIn(data, LAST_DAY)).toEqual(all(2))
  })
})

describe('the consistency check', () => {
  it('is made by the next run when a run is stopped before it', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    const world = paged.worldAt()
    paged.disturb = ({ cursor }) => {
      if (cursor === 'u4') world.stop.abort(new DeferredError('stopped'))
      return undefined
    }
    const { result } = await syncFrom(paged.url, data, { world })
    expect(result.stoppedBy?.exitCode).toBe(4)
    const open = await unverified(data)
    expect(open.length).toBeGreaterThan(0)
    paged.disturb = () => undefined
    paged.n = 2
    paged.forget()
    await sync(paged, data)
    expect(await unverified(data)).toEqual([])
    for (const day of open) expect(await usersIn(data, day)).toEqual(all(2))
  })

  it('law 3: is made by the next run when a run was killed before it recorded its days', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    paged.disturb = ({ day, cursor }) => {
      if (day === LAST_DAY && cursor === 'u4') paged.n = 2
      return undefined
    }
    await sync(paged, data, TOTALS)
    const error = new Error('killed')
    const killed = vi.spyOn(IntervalRecorder.prototype, 'landed').mockRejectedValue(error)
    await expect(sync(paged, data, ['users'])).rejects.toBe(error)
    killed.mockRestore()
    expect(await usersIn(data, LAST_DAY)).not.toEqual(all(2))
    paged.disturb = () => undefined
    await sync(paged, data)
    expect(await usersIn(data, LAST_DAY)).toEqual(all(2))
    expect(await unverified(data)).toEqual([])
  })

  it('leaves days unverified when totals fail, and the next run repeats it', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    await sync(paged, data)
    let isPaginated = false
    paged.disturb = ({ endpoint }, response) => {
      isPaginated ||= endpoint === 'users'
      return isPaginated && endpoint === 'productivity' && refuse(response, 500)
    }
    const { result } = await sync(paged, data, undefined, '2026-01-18T06:00:00Z')
    expect(result.failed).toBeGreaterThan(0)
    expect(await unverified(data)).not.toEqual([])
    paged.disturb = () => undefined
    paged.forget()
    const again = await sync(paged, data, undefined, '2026-01-18T07:00:00Z')
    expect(again.result).toMatchObject({ failed: 0 })
    expect(paged.cursors()).toEqual([])
    expect(await unverified(data)).toEqual([])
  })

  it('law 9: is still to be made when the same users come again and totals fail again', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    let isPaginated = false
    paged.disturb = ({ endpoint }, response) => {
      isPaginated ||= endpoint === 'users'
      return isPaginated && endpoint === 'productivity' && refuse(response, 500)
    }
    await sync(paged, data)
    const open = await unverified(data)
    expect(open).toContain(LAST_DAY)
    isPaginated = false
    paged.forget()
    await refetch(paged, data)
    expect(paged.cursors(LAST_DAY)).toEqual(['', 'u2', 'u4'])
    expect(await unverified(data)).toEqual(open)
  })

  it('law 9: is still to be made when totals come back empty and are to be confirmed', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    await sync(paged, data)
    const at = '2026-03-10T06:00:00Z'
    let isPaginated = false
    paged.n = 2
    paged.disturb = ({ endpoint }, response) => {
      isPaginated ||= endpoint === 'users'
      if (!isPaginated || endpoint !== 'productivity') return false
      const empty = { data: [], meta: { org_id: 'o' } }
      sendJson(response, 200, empty, { date: new Date(at).toUTCString() })
      return true
    }
    await refetch(paged, data, at)
    const total = (await ledgerOf(data, 'o')).get(`productivity/${LAST_DAY}`)
    expect(total).toMatchObject({ versions: 2, rowCount: 1, error: null })
    expect(total?.suspect).toBeDefined()
    expect(await unverified(data)).toEqual([LAST_DAY])
  })

  it('fetches totals even when only users are selected', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    await sync(paged, data, ['users'])
    expect(askedFor(paged)).toEqual({
      activity: 3,
      tokens_by_model: 2,
      productivity: 2,
      users: 9,
    })
    expect(await unverified(data)).toEqual([])
  })

  it('is not made when users are not selected', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    await sync(paged, data, ['tokens'])
    expect(askedFor(paged)).toEqual({ activity: 1, tokens: 1 })
  })
})

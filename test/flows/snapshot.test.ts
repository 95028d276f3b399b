import { describe, expect, it } from 'vitest'
import { RESOURCES } from '../../src/lake/resources.ts'
import { DeferredError } from '../../src/lib/errors.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { LAST_DAY, pagedPlatform, refuse, usersIn, type Paged } from './paged.ts'
import { ledgerOf, syncFrom } from './platform.ts'

const GUARDS = ['activity', 'tokens_by_model', 'productivity']

const all = (n: number, users = 5) =>
  Array.from({ length: users }, (_, at) => [`u${at + 1}`, n, Math.floor(at / 2) + 1, at % 2])

/** Five users, two a page. */
const platform = (): Promise<Paged> => pagedPlatform({ users: 5, perPage: 2 })

/** Requests by resource, the handshake among them. */
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

/** What the check asked for: requests for guards after the last page of users. */
function askedAfterWalks(paged: Paged): number {
  const last = paged.asked.findLastIndex(({ endpoint }) => endpoint === 'users')
  return paged.asked.length - 1 - last
}

const sync = (paged: Paged, data: string, only?: readonly string[], at?: string) =>
  syncFrom(paged.url, data, { world: paged.worldAt(at), ...(only === undefined ? {} : { only }) })

async function unproven(data: string): Promise<string[]> {
  const intervals = [...(await ledgerOf(data, 'o')).values()]
  return intervals.filter((each) => typeof each.witness === 'string').map(({ day }) => day)
}

describe('an idle night', () => {
  it('with days of several pages costs exactly three requests more', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    await sync(paged, data)
    paged.forget()
    const { result } = await sync(paged, data, undefined, '2026-01-18T06:00:00Z')
    expect(result).toMatchObject({ failed: 0, stoppedBy: null })
    const walks = paged.asked.filter(({ endpoint }) => endpoint === 'users')
    const days = new Set(walks.map(({ day }) => day))
    expect(days.size).toBeGreaterThan(1)
    expect(paged.cursors()).toHaveLength(3 * days.size)
    expect(askedAfterWalks(paged)).toBe(3)
    expect(askedFor(paged)).toEqual({
      ...Object.fromEntries(RESOURCES.map(({ name }) => [name, 1])),
      activity: 3, // the handshake, the window, the check
      tokens_by_model: 2,
      productivity: 2,
      users: 3 * days.size,
    })
    expect(await unproven(data)).toEqual([])
  })

  it('asks for the totals of the new day alone: the others came back as they were', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    await sync(paged, data)
    paged.forget()
    await sync(paged, data, undefined, '2026-01-18T06:00:00Z')
    const checks = paged.asked.slice(-askedAfterWalks(paged))
    expect(checks.map(({ query }) => [query.get('startDate'), query.get('endDate')])).toEqual(
      GUARDS.map(() => ['2026-01-17', '2026-01-17']),
    )
  })

  it('with days of one page costs none', async () => {
    const [paged, data] = [await pagedPlatform({ users: 5, perPage: 5 }), await temporaryFolder()]
    await sync(paged, data)
    expect(askedAfterWalks(paged)).toBe(0)
    expect(askedFor(paged)).toMatchObject({ activity: 2, tokens_by_model: 1, productivity: 1 })
  })
})

describe('law 9: a day whose totals moved between its first and its last page', () => {
  it('is read again: what stands in the end is of one snapshot', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    paged.disturb = ({ day, cursor }) => {
      if (day === LAST_DAY && cursor === 'u2') paged.n = 2
      return undefined
    }
    const { result, world } = await sync(paged, data)
    expect(result).toMatchObject({ failed: 0, stoppedBy: null })
    expect(await usersIn(data, LAST_DAY)).toEqual(all(2))
    expect(paged.cursors(LAST_DAY)).toEqual(['', 'u2', 'u4', '', 'u2', 'u4'])
    expect(askedAfterWalks(paged)).toBe(3)
    expect(await unproven(data)).toEqual([])
    const ledger = await ledgerOf(data, 'o')
    for (const guard of GUARDS) {
      expect(ledger.get(`${guard}/${LAST_DAY}`)).toMatchObject({ versions: 2 })
    }
    expect(world.events).toContainEqual({
      type: 'warning',
      message: `the totals of ${LAST_DAY} changed while its users were read: it is read again`,
    })
  })

  it('is the only one that is read again', async () => {
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

  it('is walked three times at most, then kept with a warning', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    paged.disturb = ({ endpoint }) => {
      if (endpoint === 'users') paged.n += 1
      return undefined
    }
    const { result, world } = await sync(paged, data)
    expect(result).toMatchObject({ failed: 0, stoppedBy: null })
    expect(paged.cursors(LAST_DAY)).toHaveLength(9)
    expect(await unproven(data)).toEqual([])
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

  it('moved while no run was under way, between two pages: it is read again too', async () => {
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

  it('moved, and the totals were landed again before the walk went on: it is read again too', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    paged.disturb = ({ cursor }, response) => cursor === 'u4' && refuse(response, 500)
    await sync(paged, data)
    paged.disturb = () => undefined
    paged.n = 2
    const plan = { resources: RESOURCES.filter(({ name }) => GUARDS.includes(name)), refetch: true }
    await syncFrom(paged.url, data, { world: paged.worldAt(), plan })
    paged.forget()
    await sync(paged, data)
    expect(paged.cursors(LAST_DAY)).toEqual(['u4', '', 'u2', 'u4'])
    expect(await usersIn(data, LAST_DAY)).toEqual(all(2))
  })
})

describe('the check', () => {
  it('that the run had no time for is made by the next', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    const world = paged.worldAt()
    paged.disturb = ({ cursor }) => {
      if (cursor === 'u4') world.stop.abort(new DeferredError('stopped'))
      return undefined
    }
    const { result } = await syncFrom(paged.url, data, { world })
    expect(result.stoppedBy?.exitCode).toBe(4)
    const open = await unproven(data)
    expect(open.length).toBeGreaterThan(0)
    paged.disturb = () => undefined
    paged.n = 2
    paged.forget()
    await sync(paged, data)
    expect(await unproven(data)).toEqual([])
    for (const day of open) expect(await usersIn(data, day)).toEqual(all(2))
  })

  it('whose totals cannot be had leaves the days unproven, and the next run asks', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    await sync(paged, data)
    let isWalked = false
    paged.disturb = ({ endpoint }, response) => {
      isWalked ||= endpoint === 'users'
      return isWalked && endpoint === 'productivity' && refuse(response, 500)
    }
    const { result } = await sync(paged, data, undefined, '2026-01-18T06:00:00Z')
    expect(result.failed).toBeGreaterThan(0)
    expect(await unproven(data)).not.toEqual([])
    paged.disturb = () => undefined
    paged.forget()
    const again = await sync(paged, data, undefined, '2026-01-18T07:00:00Z')
    expect(again.result).toMatchObject({ failed: 0 })
    expect(paged.cursors()).toEqual([])
    expect(await unproven(data)).toEqual([])
  })

  it('has totals to hold against also when only users are asked for', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    await sync(paged, data, ['users'])
    expect(askedFor(paged)).toEqual({
      activity: 3,
      tokens_by_model: 2,
      productivity: 2,
      users: 9,
    })
    expect(await unproven(data)).toEqual([])
  })

  it('is not made for what is not selected', async () => {
    const [paged, data] = [await platform(), await temporaryFolder()]
    await sync(paged, data, ['tokens'])
    expect(askedFor(paged)).toEqual({ activity: 1, tokens: 1 })
  })
})

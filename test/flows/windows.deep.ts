import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addDays, daysBetween, HISTORY_START, startOf, type Day } from '../../src/lib/days.ts'
import type { RunEvent } from '../../src/lib/events.ts'
import type { World } from '../../src/lib/world.ts'
import { RESOURCES } from '../../src/lake/resources.ts'
import { readStatus } from '../../src/serve/status.ts'
import { learnedSizes } from '../../src/lake/state-file.ts'
import { command } from '../support/command.ts'
import { sendJson, temporaryFolder, testServer, testWorld } from '../support/helpers.ts'
import { ledgerOf, syncFrom } from './platform.ts'

const DAY = 86_400_000
/** The first night after so many days of history. */
const nightAfter = (days: number): number => startOf(addDays(HISTORY_START, days)) + DAY / 12
const FIRST_NIGHT = nightAfter(70)

/** The status that the platform answers a request of a range with; 0: it never answers. */
type Rule = (asked: { first: string; last: string; days: number; yesterday: string }) => number

interface Night {
  readonly landed: number
  readonly failed: number
  /** Without the identifying request. */
  readonly requests: number
  readonly refused: number
}

function rangeOf(path: string): { first: string; last: string } {
  const query = new URL(path, 'http://platform').searchParams
  return { first: query.get('startDate') ?? '', last: query.get('endDate') ?? '' }
}

function warningOf(event: RunEvent): string[] {
  return event.type === 'warning' ? [event.message] : []
}

function spanOf(path: string): number {
  const { first, last } = rangeOf(path)
  return (Date.parse(last) - Date.parse(first)) / DAY + 1
}

/** A platform that answers by a rule, and nights of `tokens` on it. */
async function platformWith(
  first: Rule,
  changed: Partial<Pick<World, 'fetch'>> = {},
  history = 70,
) {
  const data = await temporaryFolder()
  let rule = first
  let now = nightAfter(history)
  const log: number[] = []
  const warnings: string[] = []
  const { url } = await testServer((request, response) => {
    const asked = rangeOf(request.url ?? '')
    const days = spanOf(request.url ?? '')
    const yesterday = new Date(now - DAY).toISOString().slice(0, 10)
    const isIdentifying = request.url?.includes('/activity') === true
    const status = isIdentifying ? 200 : rule({ ...asked, days, yesterday })
    if (!isIdentifying) log.push(status)
    const headers = { date: new Date(now).toUTCString() }
    if (status === 200) sendJson(response, 200, { data: [], meta: { org_id: 'o' } }, headers)
    else if (status > 0) sendJson(response, status, { title: 'Not so' }, headers)
  })
  return {
    data,
    warnings,
    changeRule: (next: Rule): void => {
      rule = next
    },
    night: async (index: number, plan = {}): Promise<Night> => {
      now = nightAfter(history) + index * DAY
      log.length = 0
      const world = { ...testWorld(now), ...changed }
      const { result } = await syncFrom(url, data, { only: ['tokens'], world, plan })
      const { landed, failed } = result
      warnings.push(...world.events.flatMap((event) => warningOf(event)))
      return {
        landed,
        failed,
        requests: log.length,
        refused: log.filter((status) => status !== 200).length,
      }
    },
    windowSize: async () => (await learnedSizes.read(data, 'o'))?.get('tokens'),
  }
}

const upTo =
  (cap: number, status = 400): Rule =>
  ({ days }) =>
    days > cap ? status : 200

const from =
  (day: string): Rule =>
  ({ first }) =>
    first < day ? 400 : 200

/** Requests of more than a week have little time, in which they arrive, or no room for their response. */
function shortOf(what: 'time' | 'room'): Pick<World, 'fetch'> {
  const { fetch } = testWorld()
  const limit = what === 'time' ? { timeoutMs: 250 } : { maxBytes: 20 }
  return {
    fetch: (request) => fetch(spanOf(request.url) > 7 ? { ...request, ...limit } : request),
  }
}

describe('a largest window size', () => {
  it.each([
    ['of a week, refused with a 400', upTo(7), {}, { requests: 20, refused: 5 }, 7],
    ['of a week, refused with a 413', upTo(7, 413), {}, { requests: 16, refused: 4 }, 7],
    ['of a week, refused with a 504', upTo(7, 504), {}, { requests: 16, refused: 4 }, 7],
    ['of a day', upTo(1), {}, { requests: 77, refused: 7 }, 1],
    ['slightly shorter than the history', upTo(60), {}, { requests: 5, refused: 1 }, 35],
  ])(
    '%s is learned, and the next night stays within it',
    async (_, rule, changed, asked, maxDays) => {
      const { night, windowSize } = await platformWith(rule, changed)
      expect(await night(0)).toEqual({ landed: 70, failed: 0, ...asked })
      expect(await windowSize()).toMatchObject({ maxDays })
      expect(await night(1)).toMatchObject({ failed: 0, refused: 0 })
      expect(await windowSize()).toMatchObject({ maxDays })
    },
  )

  it('is learned from requests that time out, without repeating them', async () => {
    const { night, windowSize } = await platformWith(upTo(7, 0), shortOf('time'))
    expect(await night(0)).toEqual({ landed: 70, failed: 0, requests: 16, refused: 4 })
    expect(await windowSize()).toMatchObject({ maxDays: 7 })
    expect(await night(1)).toMatchObject({ failed: 0, refused: 0 })
  })

  it('is learned from responses that are too large', async () => {
    const { night, windowSize } = await platformWith(upTo(200), shortOf('room'))
    expect(await night(0)).toMatchObject({ landed: 70, failed: 0, requests: 16 })
    expect(await windowSize()).toMatchObject({ maxDays: 7 })
    expect(await night(1)).toMatchObject({ failed: 0, requests: 3 })
  })

  it('is probed upward week by week after the platform lifted it', async () => {
    const { night, windowSize, changeRule } = await platformWith(upTo(5))
    await night(0)
    expect(await windowSize()).toMatchObject({ maxDays: 5 })
    changeRule(upTo(200))
    const everything = { refetch: true }
    const asked = []
    for (const index of [6, 7, 8, 9, 10]) asked.push(await night(index, everything))
    expect(asked.map(({ requests }) => requests)).toEqual([16, 15, 7, 3, 1])
    expect(asked.every(({ failed, refused }) => failed + refused === 0)).toBe(true)
  })

  it('is probed once a week while it stays', async () => {
    const { night, windowSize } = await platformWith(upTo(7))
    await night(0)
    const triedOn = []
    for (let index = 5; index <= 15; index += 1) {
      const { refused, failed } = await night(index, { refetch: true })
      if (refused > 0) triedOn.push(index)
      expect([failed, refused]).toEqual([0, refused > 0 ? 1 : 0])
    }
    expect(triedOn).toEqual([7, 14])
    expect(await windowSize()).toMatchObject({ maxDays: 7, tooWide: 8 })
  })

  it('is learned again after the platform lowered it', async () => {
    const { night, windowSize, changeRule } = await platformWith(upTo(7))
    await night(0)
    changeRule(upTo(3))
    expect(await night(1)).toMatchObject({ failed: 0 })
    expect((await windowSize())?.maxDays).toBeLessThanOrEqual(3)
    await night(1)
    await night(2)
    expect(await night(3)).toMatchObject({ failed: 0, refused: 0 })
  })

  it('is learned again when its file cannot be read', async () => {
    const { data, night, windowSize } = await platformWith(upTo(7))
    await night(0)
    await writeFile(join(data, 'state', 'windows', 'o.json'), '{"tokens":{"maxDays":')
    await night(1, { refetch: true })
    expect(await windowSize()).toMatchObject({ maxDays: 7 })
  })

  it('is shown by status', async () => {
    const { data, night } = await platformWith(upTo(7))
    await night(0)
    const { organisations } = await readStatus(data, Date.now(), (orgId) => ledgerOf(data, orgId))
    const learntAt = new Date(FIRST_NIGHT).toISOString()
    const status = organisations[0]?.resources.find(({ resource }) => resource === 'tokens')
    expect(status?.window).toEqual({ maxDays: 7, learntAt })
    const { out } = await command(['status'], { AGENT_WAREHOUSE_DATA: data })
    const toTheSecond = learntAt.replace('.000Z', 'Z')
    expect(out).toContain(`tokens: at most 7 days per request, learned ${toTheSecond}`)
  })
})

describe('a largest window size of 31 days for every resource', () => {
  /** How many windows are refused when these resources are requested; `before`: an earlier night’s data folder. */
  async function refusedOf(only: readonly string[], index = 0, before?: string): Promise<number> {
    const data = before ?? (await temporaryFolder())
    const now = nightAfter(312) + index * DAY
    let refused = 0
    const { url } = await testServer((request, response) => {
      const isTooWide = spanOf(request.url ?? '') > 31
      if (isTooWide) refused += 1
      const body = isTooWide ? { title: 'Not so' } : { data: [], meta: { org_id: 'o' } }
      const headers = { date: new Date(now).toUTCString() }
      sendJson(response, isTooWide ? 400 : 200, body, headers)
    })
    const { result } = await syncFrom(url, data, { only, world: testWorld(now) })
    expect(result).toMatchObject({ landed: 312 * only.length, failed: 0 })
    return refused
  }

  it('is bisected for one resource, and the first guess for the others', async () => {
    const alone = await refusedOf(['tokens'])
    const ranges = RESOURCES.filter(({ grain }) => grain !== 'users').map(({ name }) => name)
    const refused = await refusedOf(ranges)
    expect(ranges).toHaveLength(7)
    expect(alone).toBe(6)
    // At most one more for each: those that were requested before the first refusal arrived.
    expect(refused).toBeLessThanOrEqual(alone + ranges.length - 1)
  })

  it('that an earlier run learned for one resource limits the others from the start', async () => {
    const data = await temporaryFolder()
    await refusedOf(['tokens'], 0, data)
    expect(await refusedOf(['tools', 'productivity'], 0, data)).toBe(0)
    const sizes = await learnedSizes.read(data, 'o')
    expect(sizes?.get('tools')?.maxDays).toBe(sizes?.get('tokens')?.maxDays ?? NaN)
  })
})

describe('days that the platform does not serve', () => {
  it('fail alone, whatever else is wrong', async () => {
    const cases = fc.record({
      cap: fc.integer({ min: 1, max: 45 }),
      lag: fc.integer({ min: 0, max: 7 }),
      dropped: fc.integer({ min: 0, max: 15 }),
      bad: fc.option(fc.integer({ min: 0, max: 39 }), { nil: -1 }),
      status: fc.constantFrom(400, 413, 504),
    })
    await fc.assert(
      fc.asyncProperty(cases, async ({ cap, lag, dropped, bad, status }) => {
        const indexOf = (day: string): number => daysBetween(HISTORY_START, day as Day)
        const { data, night } = await platformWith(
          ({ first, last, days }) => {
            if (indexOf(first) < dropped || indexOf(last) >= 40 - lag) return 400
            if (days > cap) return status
            return indexOf(first) <= bad && indexOf(last) >= bad ? 500 : 200
          },
          {},
          40,
        )
        await night(0)
        const failed = [...(await ledgerOf(data, 'o')).values()]
          .filter((interval) => interval.status === 'failed')
          .map(({ day }) => indexOf(day))
          .sort((a, b) => a - b)
        const all = Array.from({ length: 40 }, (_, index) => index)
        const isUnserved = (index: number): boolean =>
          index < dropped || index >= 40 - lag || index === bad
        expect(failed).toEqual(all.filter(isUnserved))
      }),
      { numRuns: 8 },
    )
  })

  it('do not change the window size when they are the newest, and cost at most five requests a night', async () => {
    const notYet: Rule = ({ last, yesterday }) => (last >= yesterday ? 400 : 200)
    const { data, night, windowSize } = await platformWith(notYet)
    expect(await night(0)).toEqual({ landed: 69, failed: 1, requests: 5, refused: 2 })
    expect(await night(1)).toMatchObject({ failed: 1, refused: 2 })
    expect(await windowSize()).toBeUndefined()
    const { status } = (await ledgerOf(data, 'o')).get('tokens/2026-03-25') ?? {}
    expect(status).toBe('failed')
    expect((await ledgerOf(data, 'o')).get('tokens/2026-03-24')).toMatchObject({ status: 'empty' })
  })

  it('do not change the window size when the platform dropped them, and are not requested one by one', async () => {
    const { data, night, windowSize } = await platformWith(from('2026-02-03'))
    expect(await night(0)).toEqual({ landed: 50, failed: 20, requests: 13, refused: 7 })
    await night(1)
    await night(2)
    expect(await night(3)).toMatchObject({ failed: 20, refused: 7 })
    expect(await windowSize()).toBeUndefined()
    const ledger = [...(await ledgerOf(data, 'o')).values()]
    const failed = ledger.filter(({ status }) => status === 'failed').map(({ day }) => day)
    expect(failed.sort().at(-1)).toBe('2026-02-02')
    expect(failed).toHaveLength(20)
  })

  it('keep their version when the platform dropped them after they landed, and are rechecked in a month', async () => {
    const { data, night, changeRule, warnings } = await platformWith(upTo(200))
    await night(0)
    changeRule(from('2026-02-03'))
    for (const index of [7, 14, 21, 28]) expect(await night(index)).toMatchObject({ failed: 0 })
    expect(warnings.filter((each) => each.includes('what has landed is kept'))).not.toEqual([])
    const first = (await ledgerOf(data, 'o')).get('tokens/2026-01-14')
    expect(first).toMatchObject({ status: 'empty', fetchedAt: FIRST_NIGHT, attempts: 2 })
    expect(first?.error).toContain('400')
    const again = { refetch: true, within: { last: HISTORY_START } }
    expect(await night(29, again), 'a forced request reports the failure').toMatchObject({
      failed: 1,
    })
  })

  it('do not hide a largest window size', async () => {
    const both: Rule = (asked) => (asked.first < '2026-02-03' || asked.days > 7 ? 400 : 200)
    const { night, windowSize } = await platformWith(both)
    expect(await night(0)).toMatchObject({ landed: 50, failed: 20 })
    expect((await windowSize())?.maxDays).toBe(7)
  })
})

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Day } from '../../src/lib/days.ts'
import type { Interval } from '../../src/lake/ledger.ts'
import { RESOURCES } from '../../src/lake/resources.ts'
import { quarantineFolder, rawFolder, versionName, versionTime } from '../../src/lake/layout.ts'
import { versionsIn } from '../../src/lake/raw-days.ts'
import type { RunEvent } from '../../src/lib/events.ts'
import { temporaryFolder, type TestWorld } from '../support/helpers.ts'
import {
  LAST_DAY,
  MORNING,
  pagedPlatform,
  pageBuffersIn,
  refuse,
  usersIn,
  type Paged,
} from './paged.ts'
import { ledgerOf, syncFrom } from './platform.ts'

const DAY = LAST_DAY as Day

/** The pages of a day: the user and a number of each row. */
type Pages = readonly (readonly (readonly [user: string, n: number])[])[]

const FOUR: Pages = [
  [
    ['a', 1],
    ['b', 2],
  ],
  [
    ['c', 3],
    ['d', 4],
  ],
  [
    ['e', 5],
    ['f', 6],
  ],
  [['g', 7]],
]

/** A platform that serves the pages that were set last, for every day. */
async function platform(): Promise<{ paged: Paged; serve: (pages: Pages) => void }> {
  const paged = await pagedPlatform({ users: 1, perPage: 1 })
  const serve = (pages: Pages): void => {
    paged.disturb = ({ endpoint, cursor }, response) => {
      if (endpoint !== 'users') return false
      const at = Number(cursor ?? 0)
      const rows = pages[at] ?? []
      const data = rows.map(([user, n]) => ({ user_id: user, date: DAY, sessions: n }))
      const more = at + 1 < pages.length
      const meta = { org_id: 'o', has_more: more, next_cursor: more ? `${at + 1}` : null }
      const text = JSON.stringify({ data, meta })
      response.writeHead(200, { date: new Date(MORNING).toUTCString() }).end(text)
      return true
    }
  }
  return { paged, serve }
}

/** Fetches the users of one day, whether or not it is due. */
async function recheck(paged: Paged, data: string, world = paged.worldAt()) {
  paged.forget()
  const resources = RESOURCES.filter(({ name }) => name === 'users')
  const plan = { resources, within: { first: DAY, last: DAY }, refetch: true }
  return syncFrom(paged.url, data, { world, plan })
}

/** A world whose run ends as if it were killed when that many pages are in the page buffer. */
function killedAfter(world: TestWorld, pages: number): TestWorld {
  let left = pages
  const emit = (event: RunEvent): void => {
    world.emit(event)
    if (event.type !== 'page.received') return
    left -= 1
    if (left === 0) throw new Error('killed')
  }
  return { ...world, emit }
}

async function intervalIn(data: string): Promise<Interval | undefined> {
  return (await ledgerOf(data, 'o')).get(`users/${DAY}`)
}

/** The user and the number of each row, of pages or of the lake, in order of their texts. */
function sorted(rows: readonly unknown[]): string[] {
  return rows.map((row) => JSON.stringify((row as unknown[]).slice(0, 2))).sort()
}

describe('a recheck of a landed day', () => {
  it.each<[string, Pages, number]>([
    ['unchanged', FOUR, 1],
    ['with another row on the first page', [[['a', 9]], ...FOUR.slice(1)], 2],
    ['with another row on the last page', [...FOUR.slice(0, 3), [['g', 9]]], 2],
    ['with one page more', [...FOUR, [['h', 8]]], 2],
    ['without the last page', FOUR.slice(0, 3), 2],
    ['with its pages in another order', FOUR.toReversed(), 1],
    ['with no row', [], 2],
  ])('lands the rows that are served now: %s', async (_, pages, versions) => {
    const { paged, serve } = await platform()
    const data = await temporaryFolder()
    serve(FOUR)
    await recheck(paged, data)
    serve(pages)
    await recheck(paged, data)
    expect(sorted(await usersIn(data, DAY))).toEqual(sorted(pages.flat()))
    expect(await intervalIn(data)).toMatchObject({ versions, rowCount: pages.flat().length })
    expect(await pageBuffersIn(data)).toEqual([])
  })

  it('law 1: lands the rows that were served last, whatever is served and wherever it is killed', async () => {
    const row = fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.integer({ min: 1, max: 2 }))
    const page = fc.array(row, { minLength: 1, maxLength: 2 })
    const night = fc.record({
      pages: fc.array(page, { minLength: 1, maxLength: 4 }),
      killedAfter: fc.option(fc.integer({ min: 1, max: 4 })),
    })
    const { paged, serve } = await platform()
    await fc.assert(
      fc.asyncProperty(fc.array(night, { minLength: 2, maxLength: 4 }), async (nights) => {
        const data = await temporaryFolder()
        for (const { pages, killedAfter: after } of nights) {
          serve(pages)
          if (after !== null && after <= pages.length) {
            const killed = recheck(paged, data, killedAfter(paged.worldAt(), after))
            await expect(killed).rejects.toThrow('killed')
          }
          await recheck(paged, data)
          expect(sorted(await usersIn(data, DAY))).toEqual(sorted(pages.flat()))
        }
      }),
      { numRuns: 25 },
    )
  })

  it('lands the day again when its version in the lake was damaged', async () => {
    const { paged, serve } = await platform()
    serve(FOUR)
    const data = await temporaryFolder()
    await recheck(paged, data)
    const folder = rawFolder(data, 'o', 'users', DAY)
    const [file = ''] = versionsIn(folder)
    await writeFile(join(folder, file), 'damaged')
    const { world } = await recheck(paged, data)
    expect(world.events).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining('written again') as string }),
    )
    expect(sorted(await usersIn(data, DAY))).toEqual(sorted(FOUR.flat()))
  })

  it('lands a newer version when one that the ledger never had is in quarantine', async () => {
    const { paged, serve } = await platform()
    serve(FOUR)
    const data = await temporaryFolder()
    await recheck(paged, data)
    const [file = ''] = versionsIn(rawFolder(data, 'o', 'users', DAY))
    const folder = quarantineFolder(data, 'o', 'users', DAY)
    await mkdir(folder, { recursive: true })
    const newer = versionName(versionTime(file) + 1, '0123456789abcdef')
    await writeFile(join(folder, newer), 'damaged')
    expect((await recheck(paged, data)).result).toMatchObject({ failed: 0, stoppedBy: null })
    expect(await usersIn(data, DAY)).toHaveLength(7)
  })

  it('resumes after an interruption, and finds what changed on a later page', async () => {
    const { paged, serve } = await platform()
    serve(FOUR)
    const data = await temporaryFolder()
    await recheck(paged, data)
    serve([...FOUR.slice(0, 3), [['g', 8]]])
    const { disturb } = paged
    paged.disturb = (asked, response) =>
      asked.cursor === '2' ? refuse(response, 500) : disturb(asked, response)
    expect((await recheck(paged, data)).result).toMatchObject({ failed: 1 })
    paged.disturb = disturb
    await recheck(paged, data)
    expect(paged.cursors()).toEqual(['2', '3'])
    expect(await usersIn(data, DAY)).toContainEqual(['g', 8, 4, 0])
  })

  it('starts again when a cursor is refused', async () => {
    const { paged, serve } = await platform()
    serve(FOUR)
    const data = await temporaryFolder()
    await recheck(paged, data)
    const { disturb } = paged
    let refusals = 1
    paged.disturb = (asked, response) =>
      asked.cursor === '2' && refusals-- > 0 ? refuse(response, 410) : disturb(asked, response)
    expect((await recheck(paged, data)).result).toMatchObject({ failed: 0 })
    expect(paged.cursors()).toEqual(['', '1', '2', '', '1', '2', '3'])
    expect(await usersIn(data, DAY)).toHaveLength(7)
  })
})

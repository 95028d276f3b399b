import { mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Day } from '../../src/lib/days.ts'
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
async function platform(comma = ','): Promise<{ paged: Paged; serve: (pages: Pages) => void }> {
  const paged = await pagedPlatform({ users: 1, perPage: 1 })
  const serve = (pages: Pages): void => {
    paged.disturb = ({ endpoint, cursor }, response) => {
      if (endpoint !== 'users') return false
      const at = Number(cursor ?? 0)
      const rows = pages[at] ?? []
      const data = rows.map(([user, n]) => ({ user_id: user, date: DAY, sessions: n }))
      const more = at + 1 < pages.length
      const meta = { org_id: 'o', has_more: more, next_cursor: more ? `${at + 1}` : null }
      const text = JSON.stringify({ data, meta }).replaceAll('},{', `}${comma}{`)
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

function newestIn(data: string): string {
  const folder = rawFolder(data, 'o', 'users', DAY)
  return join(folder, versionsIn(folder).at(-1) ?? 'none')
}

/** The interval of the day without times, and its rows. */
async function stateOf(data: string): Promise<unknown> {
  const interval = (await ledgerOf(data, 'o')).get(`users/${DAY}`)
  if (interval === undefined) return undefined
  const { status, digest, rowCount, versions, error, suspect } = interval
  const rows = await usersIn(data, DAY)
  return { status, digest, rowCount, versions, error, suspect: suspect?.digest, rows }
}

const recordOf = (data: string): string => join(data, 'state', 'walks', 'o', `${DAY}.json`)

/** Two folders that have landed the same pages; one has no record of them. */
async function twins(paged: Paged): Promise<{ withRecord: string; without: string }> {
  const [withRecord, without] = [await temporaryFolder(), await temporaryFolder()]
  for (const data of [withRecord, without]) await recheck(paged, data)
  await rm(recordOf(without))
  return { withRecord, without }
}

describe('a day whose pages have landed before', () => {
  it('does not parse the rows of pages that are the same', async () => {
    const { paged, serve } = await platform()
    serve(FOUR)
    const { withRecord, without: other } = await twins(paged)
    const before = await stateOf(withRecord)
    const restated = FOUR.map((page) => page.map(([user, n]) => [user, n + 10] as const))
    serve(restated)
    await recheck(paged, other)
    // a record that gives the restated pages as the landed ones: parsing their rows would show it
    const { pages } = JSON.parse(await readFile(recordOf(other), 'utf8')) as { pages: unknown }
    const known = JSON.parse(await readFile(recordOf(withRecord), 'utf8')) as object
    await writeFile(recordOf(withRecord), JSON.stringify({ ...known, pages }))
    const { result } = await recheck(paged, withRecord)
    expect(result).toMatchObject({ failed: 0, stoppedBy: null })
    expect(await stateOf(withRecord)).toEqual(before)
  })

  it.each<[string, Pages]>([
    ['unchanged', FOUR],
    [
      'with another row on the first',
      [
        [
          ['a', 1],
          ['b', 9],
        ],
        ...FOUR.slice(1),
      ],
    ],
    [
      'with another row in the middle',
      [
        ...FOUR.slice(0, 2),
        [
          ['e', 9],
          ['f', 6],
        ],
        ...FOUR.slice(3),
      ],
    ],
    ['with another row on the last', [...FOUR.slice(0, 3), [['g', 9]]]],
    ['with one more at the end', [...FOUR, [['h', 8]]]],
    ['without the last', FOUR.slice(0, 3)],
    ['without all but the first', FOUR.slice(0, 1)],
    ['in another order', FOUR.toReversed()],
    ['with a row twice', [...FOUR.slice(0, 3), [['a', 1]]]],
    ['with no row', []],
  ])('lands as it would without a record of its pages, when they come %s', async (_, pages) => {
    const { paged, serve } = await platform()
    serve(FOUR)
    const { withRecord, without } = await twins(paged)
    for (const next of [pages, pages, FOUR]) {
      serve(next)
      for (const data of [withRecord, without]) await recheck(paged, data)
      await rm(recordOf(without), { force: true })
      expect(await stateOf(withRecord)).toEqual(await stateOf(without))
    }
    expect(await pageBuffersIn(withRecord)).toEqual([])
  })

  it.each([',', ', '])(
    'takes the rows of pages that are the same from the lake, when rows are separated by %j',
    async (comma) => {
      const { paged, serve } = await platform(comma)
      serve(FOUR)
      const data = await temporaryFolder()
      await recheck(paged, data)
      serve([...FOUR.slice(0, 3), [['g', 9]]])
      await recheck(paged, data)
      expect(paged.cursors()).toEqual(['', '1', '2', '3'])
      expect(await usersIn(data, DAY)).toContainEqual(['g', 9, 4, 0])
    },
  )

  it('lands as it would without a record of its pages, whatever is served each night', async () => {
    const row = fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.integer({ min: 1, max: 2 }))
    const page = fc.array(row, { minLength: 1, maxLength: 2 })
    const nights = fc.array(fc.array(page, { minLength: 1, maxLength: 4 }), {
      minLength: 2,
      maxLength: 4,
    })
    const { paged, serve } = await platform()
    await fc.assert(
      fc.asyncProperty(nights, fc.nat(3), async (served, changed) => {
        const [withRecord, without] = [await temporaryFolder(), await temporaryFolder()]
        for (const [night, pages] of served.entries()) {
          // half of the nights keep the first pages of the night before
          const kept = night % 2 === 1 ? (served[night - 1] ?? []).slice(0, changed) : []
          serve([...kept, ...pages.slice(kept.length)])
          for (const data of [withRecord, without]) await recheck(paged, data)
          await rm(recordOf(without), { force: true })
          expect(await stateOf(withRecord)).toEqual(await stateOf(without))
        }
      }),
      { numRuns: 25 },
    )
  })

  it('lands again in full when its version in the lake was damaged', async () => {
    const { paged, serve } = await platform()
    serve(FOUR)
    const data = await temporaryFolder()
    await recheck(paged, data)
    const before = await stateOf(data)
    const folder = rawFolder(data, 'o', 'users', DAY)
    const [file = ''] = versionsIn(folder)
    await writeFile(join(folder, file), 'damaged')
    const { world } = await recheck(paged, data)
    expect(world.events).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining('written again') as string }),
    )
    expect(await stateOf(data)).toEqual(before)
  })

  it('lands in full when a newer version, which the ledger never had, is in quarantine', async () => {
    const { paged, serve } = await platform()
    serve(FOUR)
    const { withRecord, without } = await twins(paged)
    for (const data of [withRecord, without]) {
      const [file = ''] = versionsIn(rawFolder(data, 'o', 'users', DAY))
      const folder = quarantineFolder(data, 'o', 'users', DAY)
      await mkdir(folder, { recursive: true })
      const newer = versionName(versionTime(file) + 1, '0123456789abcdef')
      await writeFile(join(folder, newer), 'damaged')
      expect((await recheck(paged, data)).result).toMatchObject({ failed: 0, stoppedBy: null })
    }
    expect(await stateOf(withRecord)).toEqual(await stateOf(without))
    expect(await usersIn(withRecord, DAY)).toHaveLength(7)
  })

  it('resumes a recheck that was interrupted after known pages, and finds what changed', async () => {
    const { paged, serve } = await platform()
    serve(FOUR)
    const { withRecord, without } = await twins(paged)
    const restated: Pages = [...FOUR.slice(0, 3), [['g', 8]]]
    serve(restated)
    const { disturb } = paged
    paged.disturb = (asked, response) =>
      asked.cursor === '2' ? refuse(response, 500) : disturb(asked, response)
    expect((await recheck(paged, withRecord)).result).toMatchObject({ failed: 1 })
    paged.disturb = disturb
    for (const data of [withRecord, without]) await recheck(paged, data)
    expect(paged.cursors()).toEqual(['', '1', '2', '3'])
    const { rows } = (await stateOf(withRecord)) as { rows: unknown }
    expect(rows).toEqual(((await stateOf(without)) as { rows: unknown }).rows)
    expect(rows).toContainEqual(['g', 8, 4, 0])
  })

  it.each([
    ['their record is gone', (data: string) => rm(recordOf(data))],
    ['their file is damaged', (data: string) => truncate(newestIn(data), 9)],
    [
      'another version has landed',
      async (data: string, restate: () => Promise<unknown>) => {
        const path = join(data, 'state', 'parts', `o-users-${DAY}.pages`)
        const buffer = await readFile(path)
        await rm(path)
        await restate()
        await writeFile(path, buffer)
      },
    ],
  ])(
    'law 1: starts a recheck that was interrupted after known pages again when %s',
    async (_, change) => {
      const { paged, serve } = await platform()
      serve(FOUR)
      const data = await temporaryFolder()
      await recheck(paged, data)
      const killed = recheck(paged, data, killedAfter(paged.worldAt(), 2))
      await expect(killed).rejects.toThrow('killed')
      await change(data, () => {
        serve([[['a', 2]], ...FOUR.slice(1)])
        return recheck(paged, data)
      })
      serve(FOUR)
      expect((await recheck(paged, data)).result).toMatchObject({ failed: 0 })
      expect(paged.cursors()).toEqual(['', '1', '2', '3'])
      expect(await usersIn(data, DAY)).toEqual(
        FOUR.flatMap((rows, page) => rows.map((row, at) => [...row, page + 1, at])),
      )
    },
  )

  it.each([1, 2])(
    'law 3: that shrank to two of its pages lands as such if the run is killed after page %i',
    async (pages) => {
      const { paged, serve } = await platform()
      serve(FOUR)
      const { withRecord, without } = await twins(paged)
      serve(FOUR.slice(0, 2))
      const killed = recheck(paged, withRecord, killedAfter(paged.worldAt(), pages))
      await expect(killed).rejects.toThrow('killed')
      await recheck(paged, withRecord)
      expect(paged.cursors()).toEqual(['', '1'].slice(pages))
      await recheck(paged, without)
      expect(await stateOf(withRecord)).toEqual(await stateOf(without))
      expect(await usersIn(withRecord, DAY)).toHaveLength(4)
    },
  )

  it('has the same record of its pages after an interrupted and resumed pagination', async () => {
    const { paged, serve } = await platform()
    serve(FOUR)
    const [cutOff, undisturbed] = [await temporaryFolder(), await temporaryFolder()]
    const { disturb } = paged
    paged.disturb = (asked, response) =>
      asked.cursor === '2' ? refuse(response, 500) : disturb(asked, response)
    expect((await recheck(paged, cutOff)).result).toMatchObject({ failed: 1 })
    paged.disturb = disturb
    for (const data of [cutOff, undisturbed]) await recheck(paged, data)
    expect(await readFile(recordOf(cutOff), 'utf8')).toBe(
      await readFile(recordOf(undisturbed), 'utf8'),
    )
  })

  it('starts again when a cursor after known pages is refused', async () => {
    const { paged, serve } = await platform()
    serve(FOUR)
    const data = await temporaryFolder()
    await recheck(paged, data)
    const before = await stateOf(data)
    const { disturb } = paged
    let refusals = 1
    paged.disturb = (asked, response) =>
      asked.cursor === '2' && refusals-- > 0 ? refuse(response, 410) : disturb(asked, response)
    expect((await recheck(paged, data)).result).toMatchObject({ failed: 0 })
    expect(paged.cursors()).toEqual(['', '1', '2', '', '1', '2', '3'])
    expect(await stateOf(data)).toEqual(before)
  })
})

describe('the record of pages', () => {
  it('is ignored when the lake holds other rows', async () => {
    const { paged, serve } = await platform()
    serve(FOUR)
    const data = await temporaryFolder()
    await recheck(paged, data)
    const before = await stateOf(data)
    const record = JSON.parse(await readFile(recordOf(data), 'utf8')) as object
    expect(record).toMatchObject({ users: 7 })
    await writeFile(recordOf(data), JSON.stringify({ ...record, digest: 'another', users: 1 }))
    expect((await recheck(paged, data)).result).toMatchObject({ failed: 0 })
    expect(await stateOf(data)).toEqual(before)
    expect(JSON.parse(await readFile(recordOf(data), 'utf8'))).toEqual(record)
  })

  it.each(['', '{"pages":[]}', 'null', '\0\0'])(
    'is ignored when it is %j, and every row is parsed',
    async (text) => {
      const { paged, serve } = await platform()
      serve(FOUR)
      const data = await temporaryFolder()
      await recheck(paged, data)
      const before = await stateOf(data)
      await writeFile(recordOf(data), text)
      expect((await recheck(paged, data)).result).toMatchObject({ failed: 0 })
      expect(await stateOf(data)).toEqual(before)
      expect(await readFile(recordOf(data), 'utf8')).toContain('"pages":[{')
    },
  )
})

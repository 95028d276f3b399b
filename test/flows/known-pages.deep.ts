import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Day } from '../../src/lib/days.ts'
import { RESOURCES } from '../../src/lake/resources.ts'
import { rawFolder } from '../../src/lake/layout.ts'
import { versionsIn } from '../../src/lake/raw-days.ts'
import { readPaginatedDay } from '../../src/lake/paginated-days.ts'
import { sendJson, temporaryFolder } from '../support/helpers.ts'
import { LAST_DAY, MORNING, pagedPlatform, partsIn, refuse, usersIn, type Paged } from './paged.ts'
import { ledgerOf, syncFrom } from './platform.ts'

const DAY = LAST_DAY as Day

/** The pages of a day: of each row its user and a number. */
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

/** A platform that serves these pages of every day, whatever they are at the time. */
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
      sendJson(response, 200, { data, meta }, { date: new Date(MORNING).toUTCString() })
      return true
    }
  }
  return { paged, serve }
}

/** Looks at the users of one day, whether or not a look is due. */
async function look(paged: Paged, data: string) {
  paged.forget()
  const resources = RESOURCES.filter(({ name }) => name === 'users')
  const plan = { resources, within: { first: DAY, last: DAY }, refetch: true }
  return syncFrom(paged.url, data, { world: paged.worldAt(), plan })
}

/** What is told of the day; when it was looked at aside. */
async function toldOf(data: string): Promise<unknown> {
  const interval = (await ledgerOf(data, 'o')).get(`users/${DAY}`)
  if (interval === undefined) return undefined
  const { status, digest, rowCount, versions, error, suspect } = interval
  const rows = await usersIn(data, DAY)
  return { status, digest, rowCount, versions, error, suspect: suspect?.digest, rows }
}

const memory = (data: string): string => join(data, 'state', 'walks', 'o', `${DAY}.json`)

/** Two folders that have landed the same pages, of which one has forgotten how they came. */
async function twins(paged: Paged): Promise<{ knowing: string; forgetful: string }> {
  const [knowing, forgetful] = [await temporaryFolder(), await temporaryFolder()]
  for (const data of [knowing, forgetful]) await look(paged, data)
  await rm(memory(forgetful))
  return { knowing, forgetful }
}

describe('a day whose pages were landed before', () => {
  it('is not read where they come as they did', async () => {
    const { paged, serve } = await platform()
    serve(FOUR)
    const { knowing, forgetful: other } = await twins(paged)
    const before = await toldOf(knowing)
    const restated = FOUR.map((page) => page.map(([user, n]) => [user, n + 10] as const))
    serve(restated)
    await look(paged, other)
    // a memory that takes the restated pages for the landed ones: who reads their rows would find out
    const { pages } = JSON.parse(await readFile(memory(other), 'utf8')) as { pages: unknown }
    const known = JSON.parse(await readFile(memory(knowing), 'utf8')) as object
    await writeFile(memory(knowing), JSON.stringify({ ...known, pages }))
    const { result } = await look(paged, knowing)
    expect(result).toMatchObject({ failed: 0, stoppedBy: null })
    expect(await toldOf(knowing)).toEqual(before)
  })

  it.each<[string, Pages]>([
    ['as they did', FOUR],
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
    ['without any but the first', FOUR.slice(0, 1)],
    ['in another order', FOUR.toReversed()],
    ['with a row twice', [...FOUR.slice(0, 3), [['a', 1]]]],
    ['with none', []],
  ])('is the day that it would be without a memory, where they come %s', async (_, pages) => {
    const { paged, serve } = await platform()
    serve(FOUR)
    const { knowing, forgetful } = await twins(paged)
    for (const next of [pages, pages, FOUR]) {
      serve(next)
      for (const data of [knowing, forgetful]) await look(paged, data)
      await rm(memory(forgetful), { force: true })
      expect(await toldOf(knowing)).toEqual(await toldOf(forgetful))
    }
    expect(await partsIn(knowing)).toEqual([])
  })

  it('is the day that it would be without a memory, whatever comes of it night by night', async () => {
    const row = fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.integer({ min: 1, max: 2 }))
    const page = fc.array(row, { minLength: 1, maxLength: 2 })
    const nights = fc.array(fc.array(page, { minLength: 1, maxLength: 4 }), {
      minLength: 2,
      maxLength: 4,
    })
    const { paged, serve } = await platform()
    await fc.assert(
      fc.asyncProperty(nights, fc.nat(3), async (served, changed) => {
        const [knowing, forgetful] = [await temporaryFolder(), await temporaryFolder()]
        for (const [night, pages] of served.entries()) {
          // half of the nights keep the first pages of the night before
          const kept = night % 2 === 1 ? (served[night - 1] ?? []).slice(0, changed) : []
          serve([...kept, ...pages.slice(kept.length)])
          for (const data of [knowing, forgetful]) await look(paged, data)
          await rm(memory(forgetful), { force: true })
          expect(await toldOf(knowing)).toEqual(await toldOf(forgetful))
        }
      }),
      { numRuns: 25 },
    )
  })

  it('is landed again, all of it, when its version in the lake was damaged', async () => {
    const { paged, serve } = await platform()
    serve(FOUR)
    const data = await temporaryFolder()
    await look(paged, data)
    const before = await toldOf(data)
    const folder = rawFolder(data, 'o', 'users', DAY)
    const [file = ''] = versionsIn(folder)
    await writeFile(join(folder, file), 'damaged')
    const { world } = await look(paged, data)
    expect(world.events).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining('landed again') as string }),
    )
    expect(await toldOf(data)).toEqual(before)
  })

  it('goes on where a look was cut off behind known pages, and finds what changed', async () => {
    const { paged, serve } = await platform()
    serve(FOUR)
    const { knowing, forgetful } = await twins(paged)
    const restated: Pages = [...FOUR.slice(0, 3), [['g', 8]]]
    serve(restated)
    const { disturb } = paged
    paged.disturb = (asked, response) =>
      asked.cursor === '2' ? refuse(response, 500) : disturb(asked, response)
    expect((await look(paged, knowing)).result).toMatchObject({ failed: 1 })
    paged.disturb = disturb
    for (const data of [knowing, forgetful]) await look(paged, data)
    expect(paged.cursors()).toEqual(['', '1', '2', '3'])
    const { rows } = (await toldOf(knowing)) as { rows: unknown }
    expect(rows).toEqual(((await toldOf(forgetful)) as { rows: unknown }).rows)
    expect(rows).toContainEqual(['g', 8, 4, 0])
  })

  it('is remembered also where its walk was cut off and gone on with', async () => {
    const { paged, serve } = await platform()
    serve(FOUR)
    const [cutOff, undisturbed] = [await temporaryFolder(), await temporaryFolder()]
    const { disturb } = paged
    paged.disturb = (asked, response) =>
      asked.cursor === '2' ? refuse(response, 500) : disturb(asked, response)
    expect((await look(paged, cutOff)).result).toMatchObject({ failed: 1 })
    paged.disturb = disturb
    for (const data of [cutOff, undisturbed]) await look(paged, data)
    expect(await readFile(memory(cutOff), 'utf8')).toBe(await readFile(memory(undisturbed), 'utf8'))
  })

  it('starts again where a cursor behind known pages is refused', async () => {
    const { paged, serve } = await platform()
    serve(FOUR)
    const data = await temporaryFolder()
    await look(paged, data)
    const before = await toldOf(data)
    const { disturb } = paged
    let refusals = 1
    paged.disturb = (asked, response) =>
      asked.cursor === '2' && refusals-- > 0 ? refuse(response, 410) : disturb(asked, response)
    expect((await look(paged, data)).result).toMatchObject({ failed: 0 })
    expect(paged.cursors()).toEqual(['', '1', '2', '', '1', '2', '3'])
    expect(await toldOf(data)).toEqual(before)
  })
})

describe('what is remembered of pages', () => {
  it('is nothing where the lake holds other rows', async () => {
    const { paged, serve } = await platform()
    serve(FOUR)
    const data = await temporaryFolder()
    await look(paged, data)
    const { digest = null } = (await ledgerOf(data, 'o')).get(`users/${DAY}`) ?? {}
    const lake = { dataFolder: data, orgId: 'o' }
    const read = (of: string) => readPaginatedDay(lake, 'users', DAY, of, () => undefined)
    expect(await read(digest ?? '')).toMatchObject({ digest, users: 7 })
    expect(await read('another')).toBeNull()
  })

  it.each(['', '{"pages":[]}', 'null', '\0\0'])('may be %j: every row is read', async (text) => {
    const { paged, serve } = await platform()
    serve(FOUR)
    const data = await temporaryFolder()
    await look(paged, data)
    const before = await toldOf(data)
    await writeFile(memory(data), text)
    expect((await look(paged, data)).result).toMatchObject({ failed: 0 })
    expect(await toldOf(data)).toEqual(before)
    expect(await readFile(memory(data), 'utf8')).toContain('"pages":[{')
  })
})

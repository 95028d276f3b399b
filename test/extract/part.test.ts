import { appendFile, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { Part, type PageOrigin } from '../../src/extract/part.ts'
import type { PageMark } from '../../src/extract/part-text.ts'
import { temporaryFolder } from '../helpers.ts'

const originOf = (page: number): PageOrigin => ({
  page,
  fetchedAt: Date.parse('2026-03-10T06:00:00Z') + page,
  request: `/users?cursor=${page - 1}`,
  requestId: page % 2 === 0 ? null : `req-${page}`,
  runId: 'run-1',
})

const markOf = (page: number, nextCursor: string | null): PageMark => ({
  origin: originOf(page),
  nextCursor,
  witness: `totals ${page}`,
})

/** Pages with everything that text may hold; the last line ends are no ends of lines here. */
const PAGES = [
  ['{"user_id":"a","n":1e3}', '{ "user_id":"b" , "t":"\u2028\r\\n😀" }'],
  [],
  ['{"user_id":"c","t":"é\\ud800"}'],
]

const opened: Part[] = []
afterEach(async () => {
  for (const part of opened.splice(0)) await part.keep()
})

async function create(path: string): Promise<Part> {
  const part = await Part.create(path)
  opened.push(part)
  return part
}

async function write(path: string, pages: readonly (readonly string[])[]): Promise<Part> {
  const part = await create(path)
  for (const [at, items] of pages.entries()) {
    await part.addWalkedPage(items, markOf(at + 1, `cursor-${at + 1}`))
  }
  return part
}

async function reopen(path: string): Promise<{ part: Part; items: string[] }> {
  const items: string[] = []
  const part = await Part.reopen(path, (item) => items.push(item))
  opened.push(part)
  return { part, items }
}

describe('a part that a walk left', () => {
  it('is what it was: rows, pages, cursors, and all that its content tells', async () => {
    const path = join(await temporaryFolder(), 'part')
    const before = await write(path, PAGES)
    await before.keep()
    const { part, items } = await reopen(path)
    expect(items).toEqual(PAGES.flat())
    expect(part).toMatchObject({
      pages: 3,
      first: markOf(1, 'cursor-1'),
      last: originOf(3),
      cursors: ['cursor-1', 'cursor-2', 'cursor-3'],
      isWhole: false,
    })
    expect(await part.close()).toEqual(await before.close())
  })

  it('is whole once the last page is in it', async () => {
    const path = join(await temporaryFolder(), 'part')
    const before = await write(path, PAGES)
    await before.addWalkedPage(['{"user_id":"d"}'], markOf(4, null))
    await before.keep()
    expect((await reopen(path)).part).toMatchObject({ pages: 4, isWhole: true })
  })

  it('goes on behind its last page, as if it had never been left', async () => {
    const folder = await temporaryFolder()
    const [left, undisturbed] = [join(folder, 'left'), join(folder, 'undisturbed')]
    await (await write(left, PAGES.slice(0, 2))).keep()
    const { part } = await reopen(left)
    await part.addWalkedPage(PAGES[2] ?? [], markOf(3, 'cursor-3'))
    const content = await part.close()
    const other = await (await write(undisturbed, PAGES)).close()
    expect(content).toEqual({ ...other, path: left })
    expect(await readFile(left, 'utf8')).toBe(await readFile(undisturbed, 'utf8'))
  })

  it('is cut back to its last whole page, wherever the write was cut off', async () => {
    const path = join(await temporaryFolder(), 'part')
    const ends: number[] = []
    const part = await create(path)
    for (const [at, items] of PAGES.entries()) {
      await part.addWalkedPage(items, markOf(at + 1, `cursor-${at + 1}`))
      ends.push((await stat(path)).size)
    }
    await part.keep()
    const whole = await readFile(path)
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: whole.byteLength }), async (length) => {
        await writeFile(path, whole.subarray(0, length))
        const pages = ends.filter((end) => end <= length).length
        const again = await reopen(path)
        expect(again.part.pages).toBe(pages)
        expect((await stat(path)).size).toBe(ends[pages - 1] ?? 0)
        await again.part.keep()
      }),
      { numRuns: 60 },
    )
  })

  it('is cut back to the page before a changed byte', async () => {
    const path = join(await temporaryFolder(), 'part')
    const part = await write(path, PAGES.slice(0, 1))
    const end = (await stat(path)).size
    await part.addWalkedPage(PAGES[2] ?? [], markOf(2, 'cursor-2'))
    await part.keep()
    const whole = await readFile(path)
    const inSecondPage = fc.integer({ min: end, max: whole.byteLength - 1 })
    await fc.assert(
      fc.asyncProperty(inSecondPage, fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const damaged = Buffer.from(whole)
        damaged[at] = (damaged[at] ?? 0) ^ change
        await writeFile(path, damaged)
        const again = await reopen(path)
        expect(again.part).toMatchObject({ pages: 1, cursors: ['cursor-1'] })
        await again.part.keep()
      }),
      { numRuns: 60 },
    )
  })

  it.each([
    ['the part of an earlier version, which had no marks', '{"item":"{}","ordinal":0}\n'],
    ['anything else', 'x'.repeat(100_000)],
    ['zeros, as a file system leaves them after a crash', '\0'.repeat(4096)],
  ])('is empty when it is %s', async (_, text) => {
    const path = join(await temporaryFolder(), 'part')
    await writeFile(path, text)
    expect((await reopen(path)).part.pages).toBe(0)
    expect((await stat(path)).size).toBe(0)
  })

  it('does not take a page twice, or one whose page before is missing', async () => {
    const path = join(await temporaryFolder(), 'part')
    const part = await write(path, PAGES.slice(0, 1))
    const first = await readFile(path)
    await part.keep()
    await appendFile(path, first)
    const { part: again } = await reopen(path)
    expect(again.pages).toBe(1)
    await again.keep()
    const file = await write(path, PAGES.slice(0, 2))
    await file.keep()
    const second = (await readFile(path)).subarray(first.byteLength)
    await truncate(path, 0)
    await writeFile(path, second)
    expect((await reopen(path)).part.pages).toBe(0)
  })

  it('forgets everything at a restart', async () => {
    const path = join(await temporaryFolder(), 'part')
    await (await write(path, PAGES)).keep()
    const { part } = await reopen(path)
    await part.restart()
    expect(part).toMatchObject({ pages: 0, first: undefined, cursors: [], isWhole: false })
    await part.addWalkedPage(PAGES[0] ?? [], markOf(1, null))
    const other = await create(join(await temporaryFolder(), 'part'))
    await other.addWalkedPage(PAGES[0] ?? [], markOf(1, null))
    expect(await readFile(path, 'utf8')).toBe(await readFile(other.path, 'utf8'))
    expect(await part.close()).toEqual({ ...(await other.close()), path })
  })

  it('is no file when it is left without a page', async () => {
    const path = join(await temporaryFolder(), 'part')
    const { part } = await reopen(path)
    await part.keep()
    await expect(stat(path)).rejects.toThrow('ENOENT')
  })
})

import { appendFile, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { sumOf } from '../../src/client/index.ts'
import type { DayContent } from '../../src/extract/day-content.ts'
import type { PageMark, PageOrigin } from '../../src/extract/page-text.ts'
import { Part, type Page } from '../../src/extract/part.ts'
import type { RawRow } from '../../src/extract/row-lines.ts'
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

/** Pages with everything that text may hold; the line ends in it are no ends of lines here. */
const PAGES = [
  ['{"user_id":"a","n":1e3}', '{ "user_id":"b" ,\r\n "t":"\u2028\\n😀" }'],
  [],
  ['{"user_id":"c","t":"é\\ud800"}'],
]

/** Rows as a server may put them, with white space between. */
function pageOf(items: readonly string[]): Page {
  const rows = items.map((text) => ({ text, value: JSON.parse(text) as unknown }))
  const rowsText = `[ ${items.join(' ,\r\n')}\n]`
  return { rows, rowsText, sum: sumOf(rowsText, rows.length) }
}

/** The same where nobody has read them. */
const knownPageOf = (items: readonly string[]): Page => ({ ...pageOf(items), rows: null })

const opened: Part[] = []
afterEach(async () => {
  for (const part of opened.splice(0)) await part.keep()
})

async function write(path: string, pages: readonly (readonly string[])[]): Promise<Part> {
  const { part } = await open(path)
  for (const [at, items] of pages.entries()) {
    await part.addPage(pageOf(items), markOf(at + 1, `cursor-${at + 1}`))
  }
  return part
}

async function open(path: string): Promise<{ part: Part; items: string[] }> {
  const items: string[] = []
  const part = await Part.open(path, ({ text }) => items.push(text))
  opened.push(part)
  return { part, items }
}

/** All that a content tells, its rows read. */
async function told(content: DayContent): Promise<unknown> {
  const rows: RawRow[] = []
  for await (const row of content.rows) rows.push(row)
  return { ...content, rows }
}

describe('a part that a walk left', () => {
  it('is what it was: rows, pages, cursors, and all that its content tells', async () => {
    const path = join(await temporaryFolder(), 'part')
    const before = await write(path, PAGES)
    await before.keep()
    const { part, items } = await open(path)
    expect(items).toEqual(PAGES.flat())
    expect(part).toMatchObject({
      pages: 3,
      first: markOf(1, 'cursor-1'),
      cursors: ['cursor-1', 'cursor-2', 'cursor-3'],
      isWhole: false,
    })
    expect(part.sums).toEqual(before.sums)
    expect(await told(part.content)).toEqual(await told(before.content))
    expect(await told(part.content)).toMatchObject({
      count: 3,
      last: originOf(3),
      rows: [
        { item: PAGES[0]?.[0], ordinal: 0, origin: originOf(1) },
        { item: PAGES[0]?.[1], ordinal: 1, origin: originOf(1) },
        { item: PAGES[2]?.[0], ordinal: 0, origin: originOf(3) },
      ],
    })
  })

  it('is whole once the last page is in it', async () => {
    const path = join(await temporaryFolder(), 'part')
    const before = await write(path, PAGES)
    await before.addPage(pageOf(['{"user_id":"d"}']), markOf(4, null))
    await before.keep()
    expect((await open(path)).part).toMatchObject({ pages: 4, isWhole: true })
  })

  it('goes on behind its last page, as if it had never been left', async () => {
    const folder = await temporaryFolder()
    const [left, undisturbed] = [join(folder, 'left'), join(folder, 'undisturbed')]
    await (await write(left, PAGES.slice(0, 2))).keep()
    const { part } = await open(left)
    await part.addPage(pageOf(PAGES[2] ?? []), markOf(3, 'cursor-3'))
    const { content } = await write(undisturbed, PAGES)
    expect(await told(part.content)).toEqual(await told(content))
    expect(await readFile(left, 'utf8')).toBe(await readFile(undisturbed, 'utf8'))
  })

  it('is cut back to its last whole page, wherever the write was cut off', async () => {
    const path = join(await temporaryFolder(), 'part')
    const ends: number[] = []
    const { part } = await open(path)
    for (const [at, items] of PAGES.entries()) {
      await part.addPage(pageOf(items), markOf(at + 1, `cursor-${at + 1}`))
      ends.push((await stat(path)).size)
    }
    await part.keep()
    const whole = await readFile(path)
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: whole.byteLength }), async (length) => {
        await writeFile(path, whole.subarray(0, length))
        const pages = ends.filter((end) => end <= length).length
        const again = await open(path)
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
    await part.addPage(pageOf(PAGES[2] ?? []), markOf(2, 'cursor-2'))
    await part.keep()
    const whole = await readFile(path)
    const inSecondPage = fc.integer({ min: end, max: whole.byteLength - 1 })
    await fc.assert(
      fc.asyncProperty(inSecondPage, fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const damaged = Buffer.from(whole)
        damaged[at] = (damaged[at] ?? 0) ^ change
        await writeFile(path, damaged)
        const again = await open(path)
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
    expect((await open(path)).part.pages).toBe(0)
    expect((await stat(path)).size).toBe(0)
  })

  it('does not take a page twice, or one whose page before is missing', async () => {
    const path = join(await temporaryFolder(), 'part')
    const part = await write(path, PAGES.slice(0, 1))
    const first = await readFile(path)
    await part.keep()
    await appendFile(path, first)
    const { part: again } = await open(path)
    expect(again.pages).toBe(1)
    await again.keep()
    await truncate(path, 0)
    await (await write(path, PAGES.slice(0, 2))).keep()
    await writeFile(path, (await readFile(path)).subarray(first.byteLength))
    expect((await open(path)).part.pages).toBe(0)
  })

  it('with known pages is as if they had been read, once it has read them', async () => {
    const folder = await temporaryFolder()
    const { part } = await open(join(folder, 'part'))
    for (const [at, items] of PAGES.entries()) {
      await part.addPage(knownPageOf(items), markOf(at + 1, `cursor-${at + 1}`))
    }
    const { content } = await write(join(folder, 'read'), PAGES)
    expect(part.content).toMatchObject({ count: 0 })
    const items: string[] = []
    await part.readAgain(({ text }) => items.push(text))
    expect(items).toEqual(PAGES.flat())
    expect(await told(part.content)).toEqual(await told(content))
  })

  it('forgets everything at a restart', async () => {
    const path = join(await temporaryFolder(), 'part')
    await (await write(path, PAGES)).keep()
    const { part } = await open(path)
    await part.restart()
    expect(part).toMatchObject({ pages: 0, first: undefined, cursors: [], isWhole: false })
    await part.addPage(pageOf(PAGES[0] ?? []), markOf(1, null))
    const fresh = join(await temporaryFolder(), 'part')
    const { part: other } = await open(fresh)
    await other.addPage(pageOf(PAGES[0] ?? []), markOf(1, null))
    expect(await readFile(path, 'utf8')).toBe(await readFile(fresh, 'utf8'))
    expect(await told(part.content)).toEqual(await told(other.content))
  })

  it('is not landed when a page has changed since it was written', async () => {
    const path = join(await temporaryFolder(), 'part')
    const part = await write(path, PAGES)
    const whole = await readFile(path, 'utf8')
    await writeFile(path, whole.replace('"user_id":"c"', '"user_id":"x"'))
    await expect(told(part.content)).rejects.toThrow(`${path}: page 3 of 3 is not as it was`)
  })

  it('is no file when it is left without a page', async () => {
    const path = join(await temporaryFolder(), 'part')
    const { part } = await open(path)
    await part.keep()
    await expect(stat(path)).rejects.toThrow('ENOENT')
  })
})

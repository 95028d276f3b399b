import { appendFile, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { servedRow, type ServedRow } from '../../../src/client/index.ts'
import { type DayContent, lineWriter } from '../../../src/extract/land/row-lines.ts'
import type { PageOrigin, RawRow } from '../../../src/lake/raw-days.ts'
import { PageBuffer, witnessIn, type PageHeader } from '../../../src/extract/land/page-buffer.ts'
import { temporaryFolder } from '../../support/helpers.ts'

const originOf = (page: number): PageOrigin => ({
  page,
  fetchedAt: Date.parse('2026-03-10T06:00:00Z') + page,
  request: `/users?cursor=${page - 1}`,
  requestId: page % 2 === 0 ? null : `req-${page}`,
  runId: 'run-1',
})

const headerOf = (page: number, nextCursor: string | null): PageHeader => ({
  origin: originOf(page),
  nextCursor,
  witness: `totals ${page}`,
})

/** Pages with every kind of text; line ends within a row must not end its line in the file. */
const PAGES = [
  ['{"user_id":"a","n":1e3}', '{ "user_id":"b" ,\r\n "t":"\u2028\\n😀" }'],
  [],
  ['{"user_id":"c","t":"é\\ud800"}'],
]

const pageOf = (items: readonly string[]): ServedRow[] => items.map(servedRow)

async function write(path: string, pages: readonly (readonly string[])[]): Promise<PageBuffer> {
  const { buffer } = await open(path)
  for (const [at, items] of pages.entries()) {
    buffer.addPage(pageOf(items), headerOf(at + 1, `cursor-${at + 1}`))
  }
  return buffer
}

async function open(path: string): Promise<{ buffer: PageBuffer; items: string[] }> {
  const items: string[] = []
  const buffer = await PageBuffer.open(path, (item) => items.push(item))
  return { buffer, items }
}

/** All fields of a content, with its lines. */
async function fieldsOf({ source, ...rest }: DayContent): Promise<object> {
  if (!('openFile' in source)) return expect.fail('the content has no file of lines')
  return { ...rest, lines: await readFile((await source.openFile()).path, 'utf8') }
}

/** The lines of rows. */
function linesOf(rows: readonly RawRow[]): string {
  const lineOf = lineWriter()
  return rows.map((row) => lineOf(row)).join('')
}

describe('a page buffer that an earlier run left', () => {
  it('has the witness of its first page, or one that no totals match if it is damaged', async () => {
    const path = join(await temporaryFolder(), 'buffer')
    expect(await witnessIn(path)).toBeNull()
    await write(path, PAGES)
    expect(await witnessIn(path)).toBe('totals 1')
    await truncate(path, 9)
    expect(await witnessIn(path)).toBe('')
    expect((await stat(path)).size).toBe(9)
  })

  it('has no witness if the day has a single page', async () => {
    const path = join(await temporaryFolder(), 'buffer')
    const { buffer } = await open(path)
    buffer.addPage(pageOf([]), headerOf(1, null))
    expect([buffer.witness, await witnessIn(path)]).toEqual([null, null])
  })

  it('has the same rows, pages, cursors and content when it is opened again', async () => {
    const path = join(await temporaryFolder(), 'buffer')
    const before = await write(path, PAGES)
    const { buffer, items } = await open(path)
    expect(items).toEqual(PAGES.flat())
    expect(buffer).toMatchObject({
      pages: 3,
      headers: before.headers,
      cursors: ['cursor-1', 'cursor-2', 'cursor-3'],
      isComplete: false,
    })
    expect(await fieldsOf(buffer.content)).toEqual(await fieldsOf(before.content))
    expect(buffer.content).toMatchObject({ count: 3, last: originOf(3) })
    const { lines } = (await fieldsOf(buffer.content)) as { lines: string }
    expect(lines.split(/\x02\{"bytes":.*\n/)).toEqual([
      '',
      linesOf([
        { item: PAGES[0]?.[0] ?? '', ordinal: 0, origin: originOf(1) },
        { item: PAGES[0]?.[1] ?? '', ordinal: 1, origin: originOf(1) },
      ]),
      '',
      linesOf([{ item: PAGES[2]?.[0] ?? '', ordinal: 0, origin: originOf(3) }]),
    ])
  })

  it('is complete once it has the last page', async () => {
    const path = join(await temporaryFolder(), 'buffer')
    const before = await write(path, PAGES)
    before.addPage(pageOf(['{"user_id":"d"}']), headerOf(4, null))
    expect((await open(path)).buffer).toMatchObject({ pages: 4, isComplete: true })
  })

  it('continues after its last page as if nothing had interrupted it', async () => {
    const folder = await temporaryFolder()
    const [left, undisturbed] = [join(folder, 'left'), join(folder, 'undisturbed')]
    await write(left, PAGES.slice(0, 2))
    const { buffer } = await open(left)
    buffer.addPage(pageOf(PAGES[2] ?? []), headerOf(3, 'cursor-3'))
    const { content } = await write(undisturbed, PAGES)
    expect(await fieldsOf(buffer.content)).toEqual(await fieldsOf(content))
    expect(await readFile(left, 'utf8')).toBe(await readFile(undisturbed, 'utf8'))
  })

  it('is truncated to its last complete page, wherever the write was cut off', async () => {
    const path = join(await temporaryFolder(), 'buffer')
    const ends: number[] = []
    const { buffer } = await open(path)
    for (const [at, items] of PAGES.entries()) {
      buffer.addPage(pageOf(items), headerOf(at + 1, `cursor-${at + 1}`))
      ends.push((await stat(path)).size)
    }
    const whole = await readFile(path)
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: whole.byteLength }), async (length) => {
        await writeFile(path, whole.subarray(0, length))
        const pages = ends.filter((end) => end <= length).length
        const again = await open(path)
        expect(again.buffer.pages).toBe(pages)
        expect((await stat(path)).size).toBe(ends[pages - 1] ?? 0)
      }),
      { numRuns: 60 },
    )
  })

  it('is truncated to the page before a changed byte', async () => {
    const path = join(await temporaryFolder(), 'buffer')
    const buffer = await write(path, PAGES.slice(0, 1))
    const end = (await stat(path)).size
    buffer.addPage(pageOf(PAGES[2] ?? []), headerOf(2, 'cursor-2'))
    const whole = await readFile(path)
    const inSecondPage = fc.integer({ min: end, max: whole.byteLength - 1 })
    await fc.assert(
      fc.asyncProperty(inSecondPage, fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const damaged = Buffer.from(whole)
        damaged[at] = (damaged[at] ?? 0) ^ change
        await writeFile(path, damaged)
        const again = await open(path)
        expect(again.buffer).toMatchObject({ pages: 1, cursors: ['cursor-1'] })
      }),
      { numRuns: 60 },
    )
  })

  it.each([
    ['the file of an earlier version, which had no page headers', '{"item":"{}","ordinal":0}\n'],
    ['anything else', 'x'.repeat(100_000)],
    ['zeros, as a file system leaves them after a crash', '\0'.repeat(4096)],
  ])('is empty when the file is %s', async (_, text) => {
    const path = join(await temporaryFolder(), 'buffer')
    await writeFile(path, text)
    expect((await open(path)).buffer.pages).toBe(0)
    expect((await stat(path)).size).toBe(0)
  })

  it('ignores a repeated page, and a page whose predecessor is missing', async () => {
    const path = join(await temporaryFolder(), 'buffer')
    await write(path, PAGES.slice(0, 1))
    const first = await readFile(path)
    await appendFile(path, first)
    const { buffer: again } = await open(path)
    expect(again.pages).toBe(1)
    await truncate(path, 0)
    await write(path, PAGES.slice(0, 2))
    await writeFile(path, (await readFile(path)).subarray(first.byteLength))
    expect((await open(path)).buffer.pages).toBe(0)
  })

  it('is empty after a restart', async () => {
    const path = join(await temporaryFolder(), 'buffer')
    await write(path, PAGES)
    const { buffer } = await open(path)
    buffer.restart()
    expect(buffer).toMatchObject({ pages: 0, headers: [], cursors: [], isComplete: false })
    buffer.addPage(pageOf(PAGES[0] ?? []), headerOf(1, null))
    const fresh = join(await temporaryFolder(), 'buffer')
    const { buffer: other } = await open(fresh)
    other.addPage(pageOf(PAGES[0] ?? []), headerOf(1, null))
    expect(await readFile(path, 'utf8')).toBe(await readFile(fresh, 'utf8'))
    expect(await fieldsOf(buffer.content)).toEqual(await fieldsOf(other.content))
  })

  it('does not land when a page has changed since it was written', async () => {
    const path = join(await temporaryFolder(), 'buffer')
    const buffer = await write(path, PAGES)
    const whole = await readFile(path, 'utf8')
    await writeFile(path, whole.replace('"user_id":"c"', '"user_id":"x"'))
    await expect(fieldsOf(buffer.content)).rejects.toThrow(`${path}: a page has changed`)
  })

  it('leaves no file when it has no page', async () => {
    const path = join(await temporaryFolder(), 'buffer')
    await open(path)
    await expect(stat(path)).rejects.toThrow('ENOENT')
  })
})

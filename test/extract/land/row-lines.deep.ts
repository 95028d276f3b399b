import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Day } from '../../../src/lib/days.ts'
import type { RawRow } from '../../../src/lake/raw-days.ts'
import { contentOf, writeLines } from '../../../src/extract/land/row-lines.ts'
import { landVersions, writeDays, LandingDatabase } from '../../../src/extract/land/raw-writer.ts'
import { rawFolder } from '../../../src/lake/layout.ts'
import { readRows } from '../../../src/lake/raw-days.ts'
import { temporaryFolder } from '../../support/helpers.ts'

const DAY = '2026-03-09' as Day
const MEGABYTE = 1024 * 1024

const origin = {
  page: 2,
  fetchedAt: Date.parse('2026-03-10T06:00:00.123Z'),
  request: '/users?cursor=é',
  requestId: null,
  runId: 'run-1',
}

function rows(items: readonly string[]): RawRow[] {
  return items.map((item, ordinal) => ({ item, ordinal, origin: { ...origin, page: ordinal } }))
}

/** The rows of each day as they are in the lake after they landed together. */
async function landed(days: readonly DayOfRows[]): Promise<unknown> {
  const dataFolder = await temporaryFolder()
  const database = new LandingDatabase(dataFolder)
  try {
    const warn = (message: string): never => expect.fail(message)
    const lake = { dataFolder, orgId: 'o', ledger: new Map(), database, warn }
    const contents = days.map(({ day, rows }) => ({ day, content: contentOf(rows, origin) }))
    const results = await landVersions(lake, 'users', contents)
    return await Promise.all(
      days.map(async ({ day }, at) => {
        const file = join(rawFolder(dataFolder, 'o', 'users', day), results[at]?.file ?? '')
        return { day, rows: await readRows(file) }
      }),
    )
  } finally {
    await database[Symbol.asyncDispose]()
  }
}

interface DayOfRows {
  readonly day: Day
  readonly rows: readonly RawRow[]
}

const many = (count: number, length: number): string[] =>
  Array.from({ length: count }, (_, index) => `"${String(index).padEnd(length)}"`)

it.each<[string, readonly string[]]>([
  ['no row', []],
  ['every kind of value', ['1e3', 'null', '""', '"null"', '1.0', '9007199254740993', 'true', '[]']],
  ['white space and ends of lines', ['{\r\n"a":\r1 ,\n\t"b":2}', '  {} ', '{"a":\n\n[]}']],
  ['escapes', ['{"a":"\\u0001\\u0002\\u0000\\"\\\\,#"}', '"\u2028\ufeff😀\x7f"', '"\\ud800"']],
  ['many rows', many(30_000, 100)],
  ['a row longer than the buffer', ['1', `"${'y'.repeat(5 * MEGABYTE)}"`, '2']],
])('rows land as they were served: %s', async (_, items) => {
  const day = { day: DAY, rows: rows(items) }
  expect(await landed([day])).toEqual([day])
  const other = { day: '2026-03-10' as Day, rows: rows(['"of another day"']) }
  const none = { day: '2026-03-11' as Day, rows: [] }
  expect(await landed([other, day, none])).toEqual([other, day, none])
})

it('large days land as they were served, however they are written together', async () => {
  const days = Array.from({ length: 9 }, (_, at) => ({
    day: `2026-03-0${at + 1}` as Day,
    rows: rows(many(20 * (at + 1), 20_000)),
  }))
  expect(await landed(days)).toEqual(days)
})

it('law 1: any JSON text lands as it was served, with any origin', async () => {
  const row = fc.record({
    item: fc.json(),
    ordinal: fc.nat(),
    origin: fc.record({
      page: fc.nat(),
      fetchedAt: fc.integer({ min: 0, max: 4e12 }),
      request: fc.string({ unit: 'binary' }),
      requestId: fc.option(fc.string({ unit: 'binary' })),
      runId: fc.string({ minLength: 1 }),
    }),
  })
  const sorted = ({ day, rows }: DayOfRows): unknown => [
    day,
    rows.map((each) => JSON.stringify(each)).sort(),
  ]
  const days = fc.array(fc.array(row, { maxLength: 20 }), { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(days, async (all) => {
      const written = all.map((rows, at) => ({ day: `2026-03-0${at + 1}` as Day, rows }))
      const found = (await landed(written)) as DayOfRows[]
      expect(found.map(sorted)).toEqual(written.map(sorted))
    }),
    { numRuns: 30 },
  )
})

it('a file of lines records the length of its longest line', async () => {
  const path = join(await temporaryFolder(), 'x')
  const file = writeLines(path, [{ day: DAY, rows: rows(['1', '"é"', '2']) }])
  const lines = (await readFile(path, 'utf8')).split('\n')
  expect(file.longestLine).toBe(Math.max(...lines.map((line) => Buffer.byteLength(line) + 1)))
  expect(lines).toHaveLength(4)
})

it('a landing that fails while reading rows leaves no file', async () => {
  const dataFolder = await temporaryFolder()
  const database = new LandingDatabase(dataFolder)
  const failing = function* (): Generator<RawRow> {
    yield* rows(many(60_000, 100))
    throw new Error('the rows end here')
  }
  const content = { ...contentOf([], origin), source: { rows: failing, sizeAtMost: 1 } }
  try {
    const path = join(dataFolder, 'day', 'x.parquet')
    const version = { day: DAY, content, fetchedAt: origin.fetchedAt, path }
    const writing = writeDays({ dataFolder, orgId: 'o', database }, 'users', [version])
    await expect(writing).rejects.toThrow('the rows end here')
  } finally {
    await database[Symbol.asyncDispose]()
  }
  expect(await readdir(join(dataFolder, 'day'))).toEqual([])
  expect(await readdir(join(dataFolder, 'state', 'parts'))).toEqual([])
})

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseDay } from '../../../src/lib/days.ts'
import { RowBuffer } from '../../../src/extract/fetch/row-buffer.ts'
import { temporaryFolder } from '../../support/helpers.ts'

const DAYS = ['2026-03-01', '2026-03-02', '2026-03-03'].map((day) => parseDay(day, 'a day'))
const day = fc.constantFrom(...DAYS)
/** Some are longer than what the buffer keeps in memory. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(300_000, 700_000, 1_100_000).map((length) => `é€${'x'.repeat(length)}`),
)

it('a row buffer returns the rows of each day in order, from memory and from its file', async () => {
  const folder = await temporaryFolder()
  let buffers = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(day, text), { maxLength: 12 }),
      fc.array(fc.tuple(day, text), { maxLength: 12 }),
      async (before, rows) => {
        const buffer = new RowBuffer(join(folder, 'parts', `${(buffers += 1)}.rows`))
        for (const row of before) buffer.add(...row)
        buffer.clear()
        for (const row of rows) buffer.add(...row)
        for (const each of DAYS) {
          const expected = rows.filter(([of]) => of === each).map(([, text]) => text)
          expect(buffer.rowsOf(each).every((text, at) => text === expected[at])).toBe(true)
          expect(buffer.rowsOf(each)).toHaveLength(expected.length)
        }
        await buffer.close()
      },
    ),
    { numRuns: 40 },
  )
  expect(await readdir(join(folder, 'parts'))).toEqual([])
})

it('a row buffer of few rows writes no file', async () => {
  const folder = await temporaryFolder()
  const buffer = new RowBuffer(join(folder, 'one.rows'))
  for (const each of DAYS) buffer.add(each, 'a row')
  expect(await readdir(folder)).toEqual([])
  await buffer.close()
})

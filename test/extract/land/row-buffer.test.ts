import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseDay } from '../../../src/lib/days.ts'
import { RowBuffer } from '../../../src/extract/land/row-buffer.ts'
import { temporaryFolder } from '../../support/helpers.ts'

const DAYS = ['2026-03-01', '2026-03-02', '2026-03-03'].map((day) => parseDay(day, 'a day'))
const day = fc.constantFrom(...DAYS)
/** Some of more than what is kept in memory. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(300_000, 700_000, 1_100_000).map((length) => `é€${'x'.repeat(length)}`),
)

it('gives back the rows of each day, in order, wherever they were kept', async () => {
  const folder = await temporaryFolder()
  let spools = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(day, text), { maxLength: 12 }),
      fc.array(fc.tuple(day, text), { maxLength: 12 }),
      async (before, rows) => {
        const spool = new RowBuffer(join(folder, 'parts', `${(spools += 1)}.rows`))
        for (const row of before) spool.add(...row)
        spool.clear()
        for (const row of rows) spool.add(...row)
        for (const each of DAYS) {
          const expected = rows.filter(([of]) => of === each).map(([, text]) => text)
          expect(spool.rowsOf(each).every((text, at) => text === expected[at])).toBe(true)
          expect(spool.rowsOf(each)).toHaveLength(expected.length)
        }
        await spool.close()
      },
    ),
    { numRuns: 40 },
  )
  expect(await readdir(join(folder, 'parts'))).toEqual([])
})

it('needs no file for little', async () => {
  const folder = await temporaryFolder()
  const spool = new RowBuffer(join(folder, 'one.rows'))
  for (const each of DAYS) spool.add(each, 'a row')
  expect(await readdir(folder)).toEqual([])
  await spool.close()
})

import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parseDay, type Day } from '../../../src/lib/days.ts'
import { RowBuffer } from '../../../src/extract/land/row-buffer.ts'
import { takerOf } from '../../../src/extract/fetch/rows.ts'
import { digestOfRow } from '../../../src/extract/land/row-lines.ts'
import { temporaryFolder } from '../../support/helpers.ts'

const day = (text: string): Day => parseDay(text, 'day')
const RANGE = { first: day('2026-03-01'), last: day('2026-03-04') }
const row = (date: string, n = 1): string => `{"date":"${date}","n":${n},"of":[{"date":"x"}]}`

/** The 2nd and 4th are due; the first three have landed, the day before and the third of several rows. */
async function taker() {
  const spool = new RowBuffer(join(await temporaryFolder(), 'rows'))
  const landed = new Map(
    ['2026-02-28', '2026-03-01', '2026-03-02'].map((date) => [day(date), digestOfRow(row(date))]),
  )
  const due = [day('2026-03-02'), day('2026-03-04')]
  return { spool, ...takerOf(due, RANGE, spool, (of) => landed.get(of) ?? null) }
}

it.each([
  ['of a landed day', row('2026-03-01'), '{"date":"'],
  ['spaced as it likes', '{ "date" :\n"2026-03-02", "n":1}', '{ "date" :\n"'],
  ['of a day that has not landed, or not as one row', row('2026-03-03'), undefined],
  ['of a day that was not asked for', row('2026-02-28'), undefined],
  ['of no day', row('2026-13-01'), undefined],
  ['that begins with something else', '{"n":1,"date":"2026-03-01"}', undefined],
])('a row %s may be known by its beginning', async (_, text, beginning) => {
  const { known } = await taker()
  expect(known.beginningOf(`[ ${text}`, 2)).toBe(beginning)
})

it('a row is known when it is the landed one of its day', async () => {
  const { known } = await taker()
  expect(known.has(row('2026-03-01'))).toBe(true)
  expect(known.has(row('2026-03-01', 2))).toBe(false)
  expect(known.has(row('2026-02-28'))).toBe(false)
  expect(known.has(row('2026-03-03'))).toBe(false)
})

it('of known rows those of due days are taken, with the digest that they had', async () => {
  const { known, spool } = await taker()
  known.take(row('2026-03-01'))
  known.take(row('2026-03-02'))
  expect(spool.rowsOf(day('2026-03-01'))).toEqual([])
  expect(spool.rowsOf(day('2026-03-02'))).toEqual([row('2026-03-02')])
  const last = { page: 1, fetchedAt: 0, request: '/', requestId: null, runId: 'r' }
  const { digest, count } = spool.contentOf(day('2026-03-02'), last)
  expect({ digest, count }).toEqual({ digest: digestOfRow(row('2026-03-02')), count: 1 })
  await spool.close()
})

it.each([
  ['of a due day', row('2026-03-04'), true],
  ['of a day between', '{"date":"2026-03-03"}', false],
  ['that speaks of a second day', row('2026-03-03'), true],
  ['of a day that was not asked for', '{"date":"2026-03-05"}', true],
])('a row %s is wanted, or passed over', async (_, text, isWanted) => {
  expect((await taker()).isWanted(text)).toBe(isWanted)
})

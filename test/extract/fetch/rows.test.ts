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

/** The 2nd and 4th are due; 28 February, 1 and 2 March have landed. */
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
  ['with any white space', '{ "date" :\n"2026-03-02", "n":1}', '{ "date" :\n"'],
  ['of a day that has not landed as one row', row('2026-03-03'), undefined],
  ['of a day that was not asked for', row('2026-02-28'), undefined],
  ['of an invalid date', row('2026-13-01'), undefined],
  ['that does not begin with the date', '{"n":1,"date":"2026-03-01"}', undefined],
])('the first characters of a row %s say whether it may be known', async (_, text, beginning) => {
  const { known } = await taker()
  expect(known.beginningOf(`[ ${text}`, 2)).toBe(beginning)
})

it('a row is known when it equals the landed row of its day', async () => {
  const { known } = await taker()
  expect(known.has(row('2026-03-01'))).toBe(true)
  expect(known.has(row('2026-03-01', 2))).toBe(false)
  expect(known.has(row('2026-02-28'))).toBe(false)
  expect(known.has(row('2026-03-03'))).toBe(false)
})

it('a known row of a due day is buffered with the digest that it landed with', async () => {
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
  ['of a day between two due days', '{"date":"2026-03-03"}', false],
  ['that names a second date', row('2026-03-03'), true],
  ['of a day that was not requested', '{"date":"2026-03-05"}', true],
])('a row %s is parsed: %s', async (_, text, isWanted) => {
  expect((await taker()).isWanted(text)).toBe(isWanted)
})

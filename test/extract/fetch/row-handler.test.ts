import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parseDay, type Day } from '../../../src/lib/days.ts'
import { rowHandler, RowBuffer } from '../../../src/extract/fetch/row-buffer.ts'
import { temporaryFolder } from '../../support/helpers.ts'

const day = (text: string): Day => parseDay(text, 'day')
const RANGE = { first: day('2026-03-01'), last: day('2026-03-04') }
const row = (date: string, n = 1): string => `{"date":"${date}","n":${n},"of":[{"date":"x"}]}`

/** The 2nd and 4th are due. */
async function handler() {
  const rows = new RowBuffer(join(await temporaryFolder(), 'rows'))
  return rowHandler([day('2026-03-02'), day('2026-03-04')], RANGE, rows)
}

it.each([
  ['of a due day', row('2026-03-04'), true],
  ['of a day between two due days', '{"date":"2026-03-03"}', false],
  ['that names a second date', row('2026-03-03'), true],
  ['of a day that was not requested', '{"date":"2026-03-05"}', true],
])('a row %s is parsed: %s', async (_, text, isWanted) => {
  expect((await handler()).isWanted(text)).toBe(isWanted)
})

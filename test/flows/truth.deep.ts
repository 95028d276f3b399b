import { describe, expect, it } from 'vitest'
import { warehousePath } from '../../src/lake/layout.ts'
import { formatJson } from '../../src/serve/format.ts'
import { query } from '../../src/serve/query.ts'
import { command } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { compare, expectedMarts, fetchEverything, type ActualRow } from '../truth/index.ts'
import { environmentOf, standIn } from '../support/stand-in.ts'

/** Lands and builds a stand-in of 40 users with the command, and returns the expected marts too. */
async function warehouseAndTruth(seed: number, today: string, last: string) {
  const now = Date.parse(`${today}T05:00:00Z`)
  const emulator = await standIn({ users: 40, seed, now: () => now })
  const data = await temporaryFolder()
  const environment = environmentOf(emulator, data)
  const run = await command(['run', '--log', 'none'], environment)
  expect(run, run.err).toMatchObject({ code: 0 })
  const truth = expectedMarts(
    await fetchEverything({
      baseUrl: emulator.url,
      key: emulator.keys.manager,
      first: '2026-01-14',
      last,
    }),
  )
  return { data, truth }
}

describe('the marts equal those computed without the warehouse', () => {
  it.each([
    [1, '2026-03-06', '2026-03-05'],
    [7, '2026-02-21', '2026-02-20'],
  ])(
    'law 1: value by value, for organisation %i, with 9007199254740993 exact',
    async (seed, today, last) => {
      const { data, truth } = await warehouseAndTruth(seed, today, last)
      const ask = async (sql: string): Promise<unknown> =>
        JSON.parse(formatJson(await query(warehousePath(data), sql)))
      for (const [table, expected] of Object.entries(truth))
        expect(compare(expected, (await ask(`from ${table}`)) as ActualRow[]), table).toEqual([])
      const most = 'select max(input_tokens) as n from fct_org_day'
      expect(await ask(most)).toEqual([{ n: '9007199254740993' }])
    },
  )
})

import { describe, expect, it, onTestFinished } from 'vitest'
import { startEmulator } from '../../src/emulator/emulator.ts'
import { command } from '../support/command.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { compare, expectedMarts, fetchEverything, type ActualRow } from '../truth/index.ts'

/** Lands and builds a stand-in of 40 users with the command, and returns the expected marts too. */
async function warehouseAndTruth(seed: number, today: string, last: string) {
  const now = Date.parse(`${today}T05:00:00Z`)
  const emulator = await startEmulator({ users: 40, seed, now: () => now })
  onTestFinished(() => emulator.close())
  const data = await temporaryFolder()
  const environment = {
    AGENT_BASE_URL: emulator.url,
    AGENT_API_KEY: emulator.keys.manager,
    AGENT_WAREHOUSE_DATA: data,
    AGENT_WAREHOUSE_RATE: '2000',
  }
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
  return { environment, emulator, truth }
}

describe('the marts equal those computed without the warehouse', () => {
  it.each([
    [1, '2026-03-20', '2026-03-19'],
    [7, '2026-02-21', '2026-02-20'],
  ])('value by value, for organisation %i', async (seed, today, last) => {
    const { environment, truth } = await warehouseAndTruth(seed, today, last)
    for (const [table, expected] of Object.entries(truth)) {
      const { out } = await command(['query', `from ${table}`, '--json'], environment)
      expect(compare(expected, JSON.parse(out) as ActualRow[]), table).toEqual([])
    }
  })

  it('law 1: with 9007199254740993 exact', async () => {
    const { environment } = await warehouseAndTruth(1, '2026-01-25', '2026-01-24')
    const { out } = await command(
      ['query', 'select max(input_tokens) as n from fct_org_day', '--json'],
      environment,
    )
    expect(JSON.parse(out)).toEqual([{ n: '9007199254740993' }])
  })
})

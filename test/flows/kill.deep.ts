import { expect, it } from 'vitest'
import { startFaultyPlatform } from '../support/faults.ts'
import { brokenAt, scenarioOf } from '../kill/loop.ts'
import { pointsOf } from '../kill/victim.ts'

/** One write of each stage; `make test-kill` kills at all of them. */
const WRITES = [
  /^appendFileSync extract\/land\/page-buffer/,
  /^duckdb .*extract\/land\/raw-writer/,
  /^rename(Sync)? .*extract\/land\/raw-writer/,
  /^appendFileSync lake\/ledger/,
  /^rename(Sync)? .*normalize/,
  /^rename(Sync)? .*lake\/published\.js/,
]

it('law 3: after a run was killed, the next run makes the same warehouse', async () => {
  const now = Date.parse('2026-01-20T05:00:00Z')
  const { url, emulator } = await startFaultyPlatform({ now: () => now, users: 14 })
  const command = { args: ['run', '--log', 'none'], url, key: emulator.keys.manager }
  const scenario = await scenarioOf(command, null)
  const points = pointsOf(scenario.course)
  const chosen = WRITES.map((write) => {
    const point = points.findLast(({ site }) => write.test(site))
    if (point === undefined) throw new Error(`nothing is written by ${String(write)}`)
    return point
  })
  const recorded = points.find(({ site }) => /^rename(Sync)? .*lake\/published\.js/.test(site))
  if (recorded === undefined || recorded.site === chosen.at(-1)?.site)
    throw new Error('what is published is not recorded before')
  expect(await brokenAt(scenario, [...chosen, recorded])).toEqual([])
})

import { describe, expect, it } from 'vitest'
import { chanceOf } from '../support/chance.ts'
import { startFaultyPlatform } from '../support/faults.ts'
import { temporaryFolder } from '../support/helpers.ts'
import { brokenAfterTimes, brokenAt, scenarioOf, type Scenario } from './loop.ts'
import { courseOf, killAt, pointsOf, type Command, type Point } from './victim.ts'

const FIRST_NIGHT = Date.parse('2026-01-20T05:00:00Z')
const SECOND_NIGHT = Date.parse('2026-01-21T05:00:00Z')
const RESTATED = ['2026-01-14', '2026-01-18', '2026-01-19']

/** `run` against a platform with a fixed clock, whose days have several pages of users. */
async function runAt(now: number, restated: readonly string[] = []): Promise<Command> {
  const { url, emulator, restate } = await startFaultyPlatform({ now: () => now, users: 14 })
  restate(restated)
  return { args: ['run', '--log', 'none'], url, key: emulator.keys.manager }
}

/** A first run into an empty folder. */
async function firstRun(): Promise<Scenario> {
  return scenarioOf(await runAt(FIRST_NIGHT), null)
}

/** A later night: a new day, restated days, unchanged days. */
async function laterNight(): Promise<Scenario> {
  const before = await temporaryFolder()
  await courseOf(await runAt(FIRST_NIGHT), before)
  return scenarioOf(await runAt(SECOND_NIGHT, RESTATED), before)
}

/** A first run after one that was killed while it landed a day. */
async function runAfterKill(): Promise<{ scenario: Scenario; ordinary: ReadonlySet<string> }> {
  const { command, course } = await firstRun()
  const landing = pointsOf(course).find(({ site }) => /^duckdb .*raw-writer\.js/.test(site))
  const before = await temporaryFolder()
  if (landing === undefined) throw new Error('no day is landed')
  expect(await killAt(command, before, landing)).toBe(true)
  const scenario = await scenarioOf(command, before)
  return { scenario, ordinary: new Set(Object.keys(course.writes)) }
}

/** Another command, after a first run. */
async function afterFirstRun(
  args: readonly string[],
): Promise<{ scenario: Scenario; ordinary: ReadonlySet<string> }> {
  const command = await runAt(FIRST_NIGHT)
  const before = await temporaryFolder()
  const { writes } = await courseOf(command, before)
  const scenario = await scenarioOf({ ...command, args }, before)
  return { scenario, ordinary: new Set(Object.keys(writes)) }
}

const lastOf = (points: readonly Point[]): Point[] =>
  points.filter(({ site, nth }) => points.every((each) => each.site !== site || each.nth <= nth))

describe('law 3: a process that is killed', () => {
  it('at every write of a first run leaves a folder that the next run completes', async () => {
    const scenario = await firstRun()
    const points = pointsOf(scenario.course)
    expect(points.length).toBeGreaterThan(50)
    expect(points.filter(({ site }) => site.startsWith('not covered'))).toEqual([])
    expect(await brokenAt(scenario, points)).toEqual([])
    report(points)
  })

  it('at every write of a later night leaves a folder that the next run completes', async () => {
    const scenario = await laterNight()
    expect(Object.values(scenario.truth).some((value) => value.includes('2 versions'))).toBe(true)
    const points = lastOf(pointsOf(scenario.course))
    expect(points.length).toBeGreaterThan(35)
    expect(await brokenAt(scenario, points)).toEqual([])
    report(points)
  })

  it('while it cleans up after a killed one leaves a folder that the next run completes', async () => {
    const { scenario, ordinary } = await runAfterKill()
    const points = pointsOf(scenario.course).filter(({ site }) => !ordinary.has(site))
    expect(points.length).toBeGreaterThan(1)
    expect(await brokenAt(scenario, points)).toEqual([])
    report(points)
  })

  it.each([
    ['build', '--select', '+fct_user_day'],
    ['export', 'parquet'],
  ])('at a write of `%s %s` leaves a folder that the next one completes', async (...args) => {
    const { scenario, ordinary } = await afterFirstRun(args)
    const points = pointsOf(scenario.course).filter(({ site }) => !ordinary.has(site))
    expect(points).not.toEqual([])
    expect(await brokenAt(scenario, points)).toEqual([])
    report(points)
  })

  it.each([
    ['a first run', firstRun, 1],
    ['a later night', laterNight, 2],
  ])('at 25 moments of %s leaves a folder that the next run completes', async (_, make, seed) => {
    const scenario = await make()
    const { tookMs } = scenario.course
    const times = Array.from({ length: 25 }, (__, index) =>
      Math.round(tookMs * (0.15 + 0.85 * chanceOf(seed, 'moment', index))),
    )
    expect(await brokenAfterTimes(scenario, times)).toEqual([])
  })
})

function report(points: readonly Point[]): void {
  const sites = new Set(points.map(({ site }) => site))
  console.info(`killed at ${points.length} points of ${sites.size} call sites`)
}

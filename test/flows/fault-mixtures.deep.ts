import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { RESOURCES } from '../../src/lake/resources.ts'
import { Database } from '../../src/lib/duckdb.ts'
import { chanceOf } from '../support/chance.ts'
import { command, type Outcome } from '../support/command.ts'
import { KINDS, type Ask, type FaultKind } from '../support/fault-kinds.ts'
import { startFaultyPlatform, type FaultRule, type FaultyPlatform } from '../support/faults.ts'
import { temporaryFolder, testWorld } from '../support/helpers.ts'
import { breaches, lakeOf, reportedOf, type Ended, type Lake } from './fault-law.ts'
import { martsOf } from './contents.ts'
import { night } from './night.ts'

const FIRST_NIGHT = Date.parse('2026-01-20T05:00:00Z')
const MS_PER_DAY = 86_400_000
const SECOND_NIGHT = FIRST_NIGHT + MS_PER_DAY

/** Restated before the second night, which rechecks them: 7, 3 and 2 days old. */
const RESTATED = ['2026-01-14', '2026-01-18', '2026-01-19']
const SEEDS = Array.from({ length: 5 }, (_, index) => index + 1)

const STOPS: readonly FaultKind[] = ['401', '403', '429 for two hours']
/** As a response to the first request they mean a wrong address: see faults.deep.ts. */
const ADDRESS: readonly FaultKind[] = ['404', 'a redirect']
/** Strikes every page of a day, and no other fault strikes that day: half of it would change the rows. */
const WHOLE_DAY: FaultKind = 'a user who moves to a later page'
const PASSING = KINDS.filter((kind) => kind !== WHOLE_DAY && !STOPS.includes(kind))

/** Some kinds a number of times, then each at random; some seeds have more faults than others. */
function rulesOf(seed: number): FaultRule[] {
  const badness = (0.1 + 0.7 * chanceOf(seed, 'badness')) / KINDS.length
  const counted = [1, 2, 3].flatMap((index) => {
    const kind = PASSING[Math.floor(chanceOf(seed, 'kind', index) * PASSING.length)]
    const count = 1 + Math.floor(chanceOf(seed, 'count', index) * 9)
    return kind === undefined ? [] : [{ kind, count, where: elsewhere(kind, 2) }]
  })
  return [
    { kind: WHOLE_DAY, where: ({ first }) => chanceOf(seed, 'mover', first) < 0.2 },
    ...counted,
    ...STOPS.map((kind) => ({ kind, chance: 0.001 })),
    ...PASSING.map((kind) => ({ kind, chance: badness, where: elsewhere(kind, 1) })),
  ]
}

const elsewhere =
  (kind: FaultKind, since: number) =>
  ({ endpoint, days, nth }: Ask): boolean =>
    nth >= since && (!ADDRESS.includes(kind) || days > 1 || endpoint === 'users')

interface Night extends Ended {
  readonly isPublished: boolean
}

async function nightUnder(
  platform: FaultyPlatform,
  dataFolder: string,
  at: number,
  rules: readonly FaultRule[],
  seed = 0,
): Promise<Night> {
  platform.strike(rules, seed)
  const world = testWorld(at)
  const { url, emulator } = platform
  const options = {
    url,
    key: emulator.keys.manager,
    dataFolder,
    patienceMs: rules.length === 0 ? 10_000 : 250,
  }
  const { exitCode } = await night('run', world, options)
  const isPublished = world.events.some(({ type }) => type === 'warehouse.published')
  return { exitCode, lake: await lakeOf(dataFolder), began: at, isPublished }
}

async function twoNights(): Promise<{ platform: FaultyPlatform; pass: () => void }> {
  let now = FIRST_NIGHT
  const platform = await startFaultyPlatform({ now: () => now, users: 14 })
  const pass = (): void => {
    now = SECOND_NIGHT
    platform.restate(RESTATED)
  }
  return { platform, pass }
}

const HANDSHAKE = '/api/v1/analytics/activity?startDate=2026-01-14&endDate=2026-01-14'

interface Truth {
  readonly first: Lake
  readonly second: Lake
  readonly marts: Readonly<Record<string, string>>
}
let truth: Truth | undefined

/** Two nights without faults. */
async function truthOf(): Promise<Truth> {
  if (truth !== undefined) return truth
  const { platform, pass } = await twoNights()
  const data = await temporaryFolder()
  const first = await nightUnder(platform, data, FIRST_NIGHT, [])
  pass()
  const second = await nightUnder(platform, data, SECOND_NIGHT, [])
  expect([first.exitCode, second.exitCode]).toEqual([0, 0])
  expect(second.lake.days['users/2026-01-18']).not.toBe(first.lake.days['users/2026-01-18'])
  truth = { first: first.lake, second: second.lake, marts: await finalMarts(data) }
  return truth
}

/** Marts of versions and of their number: a fault hides a version that never lands. */
const HISTORIES = ['fct_restatement', 'mart_data_health']

async function finalMarts(data: string): Promise<Record<string, string>> {
  const marts = Object.entries(await martsOf(data))
  return Object.fromEntries(marts.filter(([mart]) => !HISTORIES.includes(mart)))
}

const mixtures = new Map<number, Promise<readonly FaultKind[]>>()

/** Two nights under the faults of a seed and one without; returns the kinds that struck. */
function mixtureOf(seed: number): Promise<readonly FaultKind[]> {
  const mixture = mixtures.get(seed) ?? threeNights(seed)
  mixtures.set(seed, mixture)
  return mixture
}

async function threeNights(seed: number): Promise<readonly FaultKind[]> {
  const expected = await truthOf()
  const { platform, pass } = await twoNights()
  const data = await temporaryFolder()
  const rules = rulesOf(seed)

  const first = await nightUnder(platform, data, FIRST_NIGHT, rules, seed)
  expect(breaches(expected.first, first)).toEqual([])
  await expectReported(data, expected.first, first)
  expect(platform.struck).not.toEqual([])

  pass()
  const second = await nightUnder(platform, data, SECOND_NIGHT, rules, seed + 1_000)
  expect(breaches(expected.second, second)).toEqual([])
  await expectReported(data, expected.second, second)
  const kinds = platform.struck.map(({ kind }) => kind)

  const healed = await nightUnder(platform, data, SECOND_NIGHT, [])
  expect(healed.exitCode).toBe(0)
  expect(await finalMarts(data)).toEqual(expected.marts)
  return kinds
}

describe('a mixture of faults over two nights', () => {
  it.each(SEEDS)(
    'of seed %i: days that do not land are reported, and the next run lands them',
    async (seed) => {
      expect(await mixtureOf(seed)).not.toEqual([])
    },
  )

  it('covers more than half of the kinds of faults', async () => {
    const struck = new Set<FaultKind>()
    for (const seed of SEEDS) for (const kind of await mixtureOf(seed)) struck.add(kind)
    expect(struck.size).toBeGreaterThan(KINDS.length / 2)
  })
})

/** The days that the published warehouse knows. */
async function daysIn(data: string): Promise<unknown[]> {
  await using warehouse = await Database.open(join(data, 'warehouse.duckdb'), { readOnly: true })
  const { rows } = await warehouse.table(
    "select distinct activity_date::varchar from meta.intervals where status in ('landed', 'empty')",
  )
  return rows.flat()
}

/** The warehouse says that it lacks the days that the lake lacks, and no other. */
async function expectReported(data: string, expected: Lake, ended: Night): Promise<void> {
  if (!ended.isPublished) return
  const warehouse = await Database.open(join(data, 'warehouse.duckdb'), { readOnly: true })
  const { rows } = await warehouse.table(
    `select resource || '/' || activity_date from meta.intervals
    where status in ('failed', 'missing')`,
  )
  warehouse.close()
  const { intervals } = ended.lake
  const lacking = reportedOf(expected, ended).filter((key) => !intervals.get(key)?.file)
  expect(rows.flat().sort()).toEqual(lacking.sort())
}

describe('the command', () => {
  it('publishes what landed under a 400, a wait beyond the time limit, and a 403', async () => {
    const { data, run } = await stage()
    const nights: readonly [FaultKind, (ask: Ask) => boolean, number, string][] = [
      ['400', ({ first }) => first === '2026-01-16', 3, '1 of 48 intervals failed'],
      ['429 for two hours', isOfUsers, 4, 'which is after the time limit'],
      ['403', isOfUsers, 5, 'Manager or Owner'],
    ]
    for (const [index, [kind, where, exitCode, said]] of nights.entries()) {
      const at = FIRST_NIGHT + index * MS_PER_DAY
      const outcome = await run(at, { kind, where })
      expect(outcome.code, outcome.err).toBe(exitCode)
      expect(outcome.out + outcome.err).toContain(said)
      expect(await daysIn(data), kind).toContain(
        new Date(at - MS_PER_DAY).toISOString().slice(0, 10),
      )
    }
  })

  it('exits 3, publishes nothing and records every day as failed when every row is invalid', async () => {
    const where = ({ url, nth }: Ask): boolean => url !== HANDSHAKE || nth > 1
    const { data, run } = await stage()
    const outcome = await run(FIRST_NIGHT, { kind: 'a row that is a number', where })
    expect(outcome.code, outcome.err).toBe(3)
    expect(outcome.out).toContain('Nothing landed')
    expect(existsSync(join(data, 'warehouse.duckdb'))).toBe(false)
    const { days, intervals } = await lakeOf(data)
    expect(days).toEqual({})
    expect([...intervals.values()].filter(({ status }) => status === 'failed')).toHaveLength(48)
  })

  const isOfUsers = ({ endpoint }: Ask): boolean => endpoint === 'users'

  async function stage() {
    let now = FIRST_NIGHT
    const platform = await startFaultyPlatform({ now: () => now, users: 14 })
    const data = await temporaryFolder()
    const only = RESOURCES.map(({ name }) => name).join(',')
    const run = async (at: number, rule: FaultRule): Promise<Outcome> => {
      now = at
      platform.strike([rule])
      const outcome = await command(
        ['run', '--log', 'none', '--max-duration', '60s', '--only', only],
        {
          AGENT_BASE_URL: platform.url,
          AGENT_API_KEY: platform.emulator.keys.manager,
          AGENT_WAREHOUSE_DATA: data,
          AGENT_WAREHOUSE_RATE: '2000',
        },
      )
      expect(platform.struck.map(({ kind }) => kind)).toContain(rule.kind)
      return outcome
    }
    return { data, run }
  }
})

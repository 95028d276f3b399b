import { describe, expect, it } from 'vitest'
import { KINDS, UNDETECTABLE, type Ask, type FaultKind } from '../support/fault-kinds.ts'
import {
  startFaultyPlatform,
  whereOf,
  type FaultRule,
  type FaultyPlatform,
} from '../support/faults.ts'
import { restoredFolder } from '../support/folders.ts'
import { temporaryFolder, testWorld } from '../support/helpers.ts'
import { breaches, lakeOf, type Ended, type Lake } from './fault-law.ts'
import { versionsOf } from './contents.ts'
import { syncFrom } from './platform.ts'

const NOW = Date.parse('2026-01-20T05:00:00Z')
const BAD_DAY = '2026-01-16'
const HANDSHAKE = '/api/v1/analytics/activity?startDate=2026-01-14&endDate=2026-01-14'

/** Users, the resources that their totals come from, and one more. */
const ONLY = ['activity', 'tokens_by_model', 'productivity', 'tools', 'users']

/** They last until the timeout of a request. */
const SLOW: readonly FaultKind[] = [
  'no response at all',
  'a body that stalls',
  'a body that never ends',
  'a slow drip',
]

/** A night at a platform that is struck by these rules, with the exit code that `run` would have. */
async function nightUnder(
  platform: FaultyPlatform,
  dataFolder: string,
  rules: readonly FaultRule[],
  { at = NOW, only = ONLY }: { at?: number; only?: readonly string[] } = {},
): Promise<Ended> {
  platform.strike(rules)
  const { result } = await syncFrom(platform.url, dataFolder, {
    key: platform.emulator.keys.manager,
    world: testWorld(at),
    only,
    // a slow machine must not add timeouts to the other faults
    timeoutMs: rules.some(({ kind }) => SLOW.includes(kind)) ? 150 : 10_000,
  })
  const isShort = result.failed > 0 || result.unreachable !== null
  const exitCode = result.stoppedBy?.exitCode ?? (isShort ? 3 : 0)
  return { lake: await lakeOf(dataFolder), exitCode, began: at }
}

interface Truth {
  readonly lake: Lake
  readonly versions: readonly string[]
}
let truth: Truth | undefined

/** The lake after a night without faults. */
async function truthOf(platform: FaultyPlatform): Promise<Truth> {
  if (truth !== undefined) return truth
  const data = await temporaryFolder()
  const { lake, exitCode } = await nightUnder(platform, data, [])
  expect(exitCode).toBe(0)
  expect(Object.keys(lake.days)).toHaveLength(ONLY.length * 5) // of six days one is empty
  truth = { lake, versions: await versionsOf(data) }
  return truth
}

async function start(): Promise<{ platform: FaultyPlatform; pass: (days: number) => number }> {
  let now = NOW
  const platform = await startFaultyPlatform({ now: () => now, users: 8 })
  return { platform, pass: (days) => (now += days * 86_400_000) }
}

const isHandshake = ({ url }: Ask): boolean => url === HANDSHAKE

describe('a day lands as served, or is reported as failed,', () => {
  it.each(KINDS)('under %s at the first request of each URL', async (kind) => {
    await holdsUnder({ kind, where: (ask) => ask.nth === 1 && !isHandshake(ask) })
  })

  it.each(KINDS)('under %s at every request for one day', async (kind) => {
    await holdsUnder({
      kind,
      where: ({ endpoint, first, last }) =>
        ['tools', 'users'].includes(endpoint) && first <= BAD_DAY && BAD_DAY <= last,
      ...(SLOW.includes(kind) ? { count: 8 } : {}),
    })
  })

  async function holdsUnder(rule: FaultRule): Promise<void> {
    const { platform } = await start()
    const { lake, versions } = await truthOf(platform)
    const data = await temporaryFolder()
    const night = await nightUnder(platform, data, [rule])
    expect(platform.struck).not.toEqual([])
    expect(breaches(lake, night)).toEqual([])

    const healed = await nightUnder(platform, data, [])
    expect(healed.exitCode).toBe(0)
    expect(healed.lake.days).toEqual(lake.days)
    expect(await versionsOf(data)).toHaveLength(versions.length)
  }
})

describe('a wrong response that cannot be detected', () => {
  it.each(UNDETECTABLE)('is corrected by the next recheck: %s', async (kind) => {
    const { platform, pass } = await start()
    const { lake } = await truthOf(platform)
    const data = await temporaryFolder()
    await nightUnder(platform, data, [{ kind }])
    expect(platform.struck).not.toEqual([])
    const rechecked = await nightUnder(platform, data, [], { at: pass(3) })
    expect(rechecked.exitCode).toBe(0)
    expect(rechecked.lake.days).toMatchObject(lake.days)
  })
})

describe('a night whose first request fails', () => {
  const kinds = KINDS.filter((kind) => whereOf(kind) === undefined)

  const only = ['tools']

  /** The data folder after a night without faults at a platform of a test's own. */
  async function landed(platform: FaultyPlatform): Promise<{ data: string; lake: Lake }> {
    const { data } = await restoredFolder('tools', async (folder) => {
      const { exitCode } = await nightUnder(platform, folder, [], { only })
      expect(exitCode).toBe(0)
    })
    return { data, lake: await lakeOf(data) }
  }

  it.each(kinds)(
    'with %s at an unknown platform lands all or nothing, and the next run lands everything',
    async (kind) => {
      const { platform } = await start()
      const truth = await landed(platform)
      const data = await temporaryFolder()
      const night = await nightUnder(platform, data, [{ kind, where: isHandshake }], { only })
      expect(platform.struck).not.toEqual([])
      const isAddress = kind === '404' || kind === 'a redirect'
      if (isAddress) expect(night.exitCode).toBe(2)
      else expect(breaches(truth.lake, night)).toEqual([])
      if (night.exitCode !== 0) expect(night.lake.intervals.size).toBe(0)

      const healed = await nightUnder(platform, data, [], { only })
      expect(healed.exitCode).toBe(0)
      expect(healed.lake.days).toEqual(truth.lake.days)
    },
  )

  it.each(kinds)(
    'with %s at a known platform keeps its data and lists the missed days',
    async (kind) => {
      const { platform, pass } = await start()
      const { data, lake: before } = await landed(platform)
      const rules = [{ kind, where: isHandshake }]
      const { lake, exitCode } = await nightUnder(platform, data, rules, { at: pass(1), only })
      expect(platform.struck).not.toEqual([])
      const missed = [...lake.intervals.values()].filter(({ error }) => error !== null)
      if (exitCode === 0) {
        expect(missed).toEqual([])
        expect(lake.intervals.size).toBe(before.intervals.size + 1)
      } else {
        expect([3, 4, 5]).toContain(exitCode)
        expect(lake.days).toEqual(before.days)
        if (exitCode === 3) expect(missed.map(({ day }) => day)).toContain('2026-01-20')
      }
    },
  )
})

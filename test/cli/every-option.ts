import { afterAll, beforeAll, it } from 'vitest'
import { COMMON } from './option-rows/common.ts'
import { HOOKS } from './option-rows/hooks.ts'
import { PIPELINE } from './option-rows/pipeline.ts'
import { PLATFORM } from './option-rows/platform.ts'
import { SERVERS } from './option-rows/servers.ts'
import type { Rows } from './option-rows/rows.ts'
import { published, type Published } from './published-stage.ts'

const NOW = Date.parse('2026-02-03T05:00:00Z')

/** The test of every option of every command, by `<command> --<option>`. */
export const ROWS: Rows = { ...COMMON, ...PIPELINE, ...PLATFORM, ...HOOKS, ...SERVERS }

/** Commands that build, or compare everything: their options take minutes to test. */
const SLOW = /^(?:run|build|rebuild|verify|rollback|demo) /

/** Their options that are quick to test. */
const QUICK: ReadonlySet<string> = new Set([
  'run --only',
  'run --max-duration',
  'build --json',
  'build --retry',
  'verify --max-duration',
  'rollback --data',
])

/** True for a row that is left to the deep suite. */
export function isSlow(name: string): boolean {
  return SLOW.test(name) && !QUICK.has(name)
}

/** One stage for all tests of the describe that asks for it. */
export function commonStage(): () => Published {
  let stage: Published | undefined
  beforeAll(async () => {
    stage = await published({ users: 6, now: () => NOW })
  })
  afterAll(() => stage?.close())
  return () => {
    if (stage === undefined) throw new Error('the stage exists only during tests')
    return stage
  }
}

/** A test of each row, in a folder of its own. */
export function testRows(stageOf: () => Published, isTested: (name: string) => boolean): void {
  const rows = Object.entries(ROWS).filter(([name]) => isTested(name))
  it.each(rows)('does what its help says: %s', async (_, row) => {
    const stage = stageOf()
    await row({ ...stage, here: await stage.folder(), asked: () => askedOf(stage) })
  })
}

/** Returns the requests that the platform gets from now on. */
function askedOf({ emulator }: Published): () => string[] {
  const before = emulator.requests.length
  return () => emulator.requests.slice(before).map(({ method, path }) => `${method} ${path}`)
}

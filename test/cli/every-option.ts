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
export function testRows(stageOf: () => Published): void {
  it.each(Object.entries(ROWS))('does what its help says: %s', async (_, row) => {
    const stage = stageOf()
    await row({ ...stage, here: await stage.folder(), asked: () => askedOf(stage) })
  })
}

/** Returns the requests that the platform gets from now on. */
function askedOf({ emulator }: Published): () => string[] {
  const before = emulator.requests.length
  return () => emulator.requests.slice(before).map(({ method, path }) => `${method} ${path}`)
}

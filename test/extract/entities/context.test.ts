import { expect, it } from 'vitest'
import { originOf } from '../../../src/extract/context.ts'
import { addToDay, keyIn } from '../../../src/extract/entities/context.ts'
import { IntervalRecorder } from '../../../src/extract/land/interval-recorder.ts'
import { LandingDatabase } from '../../../src/extract/land/raw-writer.ts'
import { LedgerFile } from '../../../src/lake/ledger.ts'
import { parseDay } from '../../../src/lib/days.ts'
import { landed } from '../../flows/entities-night.ts'
import { temporaryFolder, testWorld } from '../../support/helpers.ts'

const DAY = parseDay('2026-03-10', 'a day')

it('an item that has changed within a day replaces the one of the earlier run, and no other', async () => {
  const dataFolder = await temporaryFolder()
  const fail = (message: string): never => expect.fail(message)
  await using database = new LandingDatabase(dataFolder)
  /** What a run adds to the day. */
  const add = async (runId: string, items: readonly string[]): Promise<void> => {
    const world = testWorld()
    const ledger = await LedgerFile.open(dataFolder, 'o', fail)
    const rule = { plannedAt: world.now(), isForced: false }
    const recorder = new IntervalRecorder(ledger, world, rule)
    const to = { dataFolder, orgId: 'o', ledger: ledger.intervals, database, warn: fail }
    const context = { ...to, runId, world, skewMs: 0, recorder }
    const origin = originOf(context, { request: '/', requestId: null })
    const rows = items.map((item, ordinal) => ({ item, ordinal, origin }))
    await addToDay(context, 'sessions', DAY, rows, keyIn('id'), origin)
  }
  await add('first', ['{"id":"a","turns":1}', '{"id":"b","turns":1}'])
  await add('second', ['{"id":"a","turns":2}', '{"id":"c","turns":1}'])
  expect(await landed(dataFolder, 'sessions', 'o')).toEqual({
    [DAY]: ['{"id":"a","turns":2}', '{"id":"b","turns":1}', '{"id":"c","turns":1}'],
  })
})

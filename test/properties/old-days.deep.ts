import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { oldHistories } from './histories.ts'
import { BOUNDED, changes, runNights, versionsOf } from './run-nights.ts'
import { inFolder } from './nights.ts'

const NIGHTS = { firstNight: 40, lastNight: 70 }

describe('over histories of final days', () => {
  it('laws 2 and 8: the next plan is empty, and each change is a version', async () => {
    await fc.assert(
      fc.asyncProperty(oldHistories({ ...NIGHTS, restatements: 8 }), (history) =>
        inFolder(async (data) => {
          const nights = await runNights(data, history)
          for (const { left } of nights) expect(left).toEqual([])
          const { only, model } = history
          expect(await versionsOf(data, history, nights)).toEqual(changes(nights, only, model))
        }),
      ),
      { ...BOUNDED, numRuns: 6 },
    )
  })
})

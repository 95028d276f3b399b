import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { oldHistories } from './histories.ts'
import { BOUNDED, changes, live, versionsOf } from './lives.ts'
import { inFolder } from './nights.ts'

const NIGHTS = { firstNight: 40, lastNight: 70 }

describe('over histories whose days were settled long ago', () => {
  it('laws 2 and 8 hold as they do for young days', async () => {
    await fc.assert(
      fc.asyncProperty(oldHistories({ ...NIGHTS, restatements: 8 }), (history) =>
        inFolder(async (data) => {
          const lived = await live(data, history)
          for (const { left } of lived) expect(left).toEqual([])
          const { only, model } = history
          expect(await versionsOf(data, history, lived)).toEqual(changes(lived, only, model))
        }),
      ),
      { ...BOUNDED, numRuns: 6 },
    )
  })
})

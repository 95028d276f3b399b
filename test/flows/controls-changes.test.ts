import { expect, it } from 'vitest'
import { temporaryFolder } from '../support/helpers.ts'
import { DAY, landed, night, NIGHT, platform } from './entities-night.ts'

it('a revision that is served with other settings lands again, and no other does', async () => {
  let level = ''
  const emulator = await platform({
    intercept: ({ path }) =>
      path.includes('enterprise-controls')
        ? Response.json({
            changes: [
              { revision: 2, settings: { maxAutonomyLevel: level } },
              { revision: 1, settings: { maxAutonomyLevel: 'off', unknownSecret: 'quiet' } },
            ],
            pagination: { hasMore: false },
          })
        : undefined,
  })
  const data = await temporaryFolder()
  for (const [index, served] of ['high', 'low', 'low', 'high'].entries()) {
    level = served
    await night(emulator, data, { only: ['enterprise_controls'], now: NIGHT + index * DAY })
  }
  const days = Object.values(await landed(data, 'enterprise_controls'))
  const levels = days.map((items) =>
    items.map((item) => /"maxAutonomyLevel":"(\w+)/.exec(item)?.[1]),
  )
  expect(levels).toEqual([['off', 'high'], ['low'], [], ['high']])
})

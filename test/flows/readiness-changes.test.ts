import { expect, it } from 'vitest'
import { temporaryFolder } from '../support/helpers.ts'
import { DAY, landed, night, NIGHT, platform } from './entities-night.ts'

it('a readiness report that returns to an earlier content lands again', async () => {
  let numerator = 1
  const emulator = await platform({
    intercept: ({ path }) =>
      path.includes('maturity-level-reports')
        ? Response.json({ reports: [{ reportId: 'a', report: { tests: { numerator } } }] })
        : undefined,
  })
  const data = await temporaryFolder()
  for (const [index, next] of [1, 2, 2, 1].entries()) {
    numerator = next
    await night(emulator, data, { only: ['readiness_reports'], now: NIGHT + index * DAY })
  }
  const found = Object.values(await landed(data, 'readiness_reports')).flat()
  expect(found.map((item) => /"numerator":(\d)/.exec(item)?.[1])).toEqual(['1', '2', '1'])
})

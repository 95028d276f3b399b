import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { z } from 'zod'

const figures = z.array(
  z.object({
    name: z.string(),
    value: z.number(),
    least: z.number().optional(),
    most: z.number().optional(),
  }),
)

it('the forecast covers what its band promises and beats simple forecasts, whether use is steady, grows, shrinks, has seasons or a step', () => {
  const printed = execFileSync(process.execPath, ['bench/forecast.mjs'], { stdio: 'pipe' })
  const bounded = figures
    .parse(JSON.parse(String(printed)))
    .filter(({ least, most }) => least !== undefined || most !== undefined)
  const missed = bounded.filter(
    ({ value, least = -Infinity, most = Infinity }) => value < least || value > most,
  )
  expect(bounded).toHaveLength(18)
  expect(missed).toEqual([])
})

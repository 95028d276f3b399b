import { expect, it } from 'vitest'
import { restatedDay } from '../../src/cli/demo-data.ts'
import type { Day } from '../../src/lib/days.ts'

it.each([
  ['Monday', '2026-11-23', '2026-11-20'],
  ['Tuesday', '2026-11-24', '2026-11-17'],
  ['Wednesday', '2026-11-25', '2026-11-23'],
  ['Saturday', '2026-11-28', '2026-11-26'],
  ['Sunday', '2026-11-29', '2026-11-27'],
])('the demo restates a working day when it runs on a %s', (_, today, day) => {
  expect(restatedDay(today as Day)).toBe(day)
})

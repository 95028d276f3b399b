import { expect, it } from 'vitest'
import { workDayOf } from '../../src/emulator/calendar.ts'
import { totalsOf } from '../../src/emulator/day-totals.ts'
import { createOrganisation } from '../../src/emulator/people.ts'
import { eachDay, parseDay } from '../../src/lib/days.ts'
import { collectGarbage } from '../../src/lib/heap.ts'

const USERS = 2_000

function heapBytes(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

it('the totals of a day hold none of its people', () => {
  const firstDay = parseDay('2026-03-02', 'first')
  const last = parseDay('2026-03-21', 'last')
  const options = { id: 'o', seed: 1, users: USERS, areSteady: true, firstDay, anomalies: [] }
  const organisation = createOrganisation(options)
  const workDays = eachDay({ first: firstDay, last }).map((day) => workDayOf(firstDay, day))
  const before = heapBytes()
  const totals = workDays.map((workDay) => totalsOf(organisation, workDay))
  const bytes = heapBytes() - before
  expect(totals.reduce((sum, { activeUsers }) => sum + activeUsers, 0)).toBeGreaterThan(USERS)
  // a person takes several hundred bytes
  expect(bytes / (USERS * workDays.length)).toBeLessThan(100)
})

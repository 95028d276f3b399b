import { expect, it } from 'vitest'
import { entityRows, intervalRows, seenByModels } from '../../src/lake/intervals.ts'
import { parseDay } from '../../src/lib/days.ts'
import { interval, ledgerOf } from '../support/intervals.ts'

const landed = (resource: string, day: string) => interval(resource, parseDay(day, 'a day'))

it('no night is missed before a hook event that a machine with a wrong clock recorded', () => {
  const known = [
    landed('usage_limits', '2026-03-10'),
    landed('usage_limits', '2026-03-12'),
    landed('hook_events', '2027-03-12'),
  ]
  const rows = entityRows('o', ledgerOf(known)).map(({ resource, day, status, isSettled }) => [
    resource,
    day,
    status,
    isSettled,
  ])
  expect(rows).toEqual([
    ['hook_events', '2027-03-12', 'landed', false],
    ['usage_limits', '2026-03-10', 'landed', true],
    ['usage_limits', '2026-03-11', 'missing', false],
    ['usage_limits', '2026-03-12', 'landed', false],
  ])
})

it('law 6: the attempts and the error of a day count as input of models, the request of a snapshot does not', () => {
  const day = parseDay('2026-03-10', 'a day')
  const tokens = interval('tokens', day)
  const seenOf = (of: typeof tokens): string => {
    const ledger = ledgerOf([of])
    const range = { first: day, last: day }
    return seenByModels([...intervalRows('o', ledger, range), ...entityRows('o', ledger)])
  }
  expect(seenOf({ ...tokens, attempts: 2, error: 'timeout' })).not.toBe(seenOf(tokens))
  const limits = interval('usage_limits', day)
  expect(seenOf({ ...limits, attempts: 2, requestId: 'r2' })).toBe(seenOf(limits))
})

import { expect, it } from 'vitest'
import { entityRows } from '../../src/lake/intervals.ts'
import { intervalKey, type Interval } from '../../src/lake/ledger.ts'
import { parseDay } from '../../src/lib/days.ts'

function landed(resource: string, text: string): Interval {
  const day = parseDay(text, 'a day')
  const fetchedAt = Date.parse(`${text}T02:00:00Z`)
  const file = { file: 'f.parquet', sha256: 's', digest: 'd' }
  const counts = { rowCount: 1, versions: 1, attempts: 1 }
  return {
    resource,
    day,
    status: 'landed',
    fetchedAt,
    ...file,
    ...counts,
    requestId: null,
    error: null,
  }
}

it('no night is missed before a hook event that a machine with a wrong clock recorded', () => {
  const known = [
    landed('usage_limits', '2026-03-10'),
    landed('usage_limits', '2026-03-12'),
    landed('hook_events', '2027-03-12'),
  ]
  const ledger = new Map(known.map((each) => [intervalKey(each.resource, each.day), each]))
  const rows = entityRows('o', ledger).map(({ resource, day, status, isSettled }) => [
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

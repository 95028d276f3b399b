import { describe, expect, it } from 'vitest'
import type { Day } from '../../../src/lib/days.ts'
import { scopeOf } from '../../../src/serve/verify/verify.ts'
import type { Interval } from '../../../src/lake/ledger.ts'
import { interval } from '../../support/intervals.ts'

const DAY = '2026-01-15' as Day

const landed = (resource: string) => interval(resource, DAY)
const failed = (resource: string) =>
  interval(resource, DAY, { status: 'failed', file: null, error: '500' })

function scope(published: readonly string[], fresh: readonly Interval[]) {
  return scopeOf({
    orgId: 'o',
    days: [DAY],
    resources: ['tokens', 'users'],
    published: new Set(published.map((resource) => `${resource}/${DAY}`)),
    fresh: new Map(fresh.map((each) => [`${each.resource}/${DAY}`, each])),
  })
}

describe('a day of verify', () => {
  it.each([
    [
      'is compared when all of it was fetched',
      ['tokens', 'users'],
      [landed('tokens'), landed('users')],
      2,
      [],
    ],
    [
      'is compared without what the warehouse does not have, fetched or not',
      ['tokens'],
      [landed('tokens'), landed('users')],
      2,
      ['users absent'],
    ],
    [
      'is left out when the platform did not give what the warehouse has',
      ['tokens', 'users'],
      [landed('tokens'), failed('users')],
      0,
      ['users unanswered'],
    ],
    [
      'is left out when the platform was not asked in time',
      ['tokens'],
      [],
      0,
      ['tokens unanswered', 'users absent'],
    ],
    [
      'is left out when the warehouse has none of it',
      [],
      [landed('tokens')],
      0,
      ['tokens absent', 'users absent'],
    ],
  ])('%s', (_, published, fresh, intervals, leftOut) => {
    const found = scope(published, fresh)
    expect(found.intervals).toHaveLength(intervals)
    expect(found.leftOut.map(({ resource, why }) => `${resource} ${why}`)).toEqual(leftOut)
  })

  it('is compared with the intervals that one of the sides may not have read', () => {
    expect(
      scope(['tokens'], [landed('tokens')]).intervals.map(({ resource, isLanded }) => [
        resource,
        isLanded,
      ]),
    ).toEqual([
      ['tokens', true],
      ['users', false],
    ])
  })
})

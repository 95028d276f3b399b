import { describe, expect, it } from 'vitest'
import { parseDay } from '../../src/lib/days.ts'
import { planMerges, type RawSource } from '../../src/lake/merge-files.ts'

const MB = 2 ** 20
const NOW = Date.parse('2026-03-30T00:00:00Z')

function source(day: string, megabytes = 10, more: Partial<RawSource> = {}): RawSource {
  const { resource = 'users', orgId = 'o' } = more
  const file = `${day}.parquet`
  const versions = [{ resource, day: parseDay(day, 'the day'), file }]
  const bytes = megabytes * MB
  return { orgId, resource, path: `${resource}/${day}`, bytes, versions, ...more }
}

const days = (...names: string[]): RawSource[] => names.map((day) => source(day))

function planned(sources: readonly RawSource[], now = NOW): string[] {
  return planMerges(sources, now).map(({ orgId, resource, month, sources: own, bytes }) => {
    const paths = own.map(({ path }) => path.split('/').at(-1))
    return `${orgId} ${resource} ${month}: ${paths.join(' ')}, ${bytes / MB} MB`
  })
}

describe('the merge plan', () => {
  it.each([
    ['of an empty lake is empty', [], []],
    ['leaves a single file as it is', days('2026-01-15'), []],
    [
      'merges two days of a month, in order',
      days('2026-01-16', '2026-01-15'),
      ['o users 2026-01: 2026-01-15 2026-01-16, 20 MB'],
    ],
    ['does not merge days of two months', days('2026-01-31', '2026-02-01'), []],
    [
      'merges each resource and organisation for itself',
      [
        ...days('2026-01-15', '2026-01-16'),
        source('2026-01-17', 1, { resource: 'tokens' }),
        source('2026-01-18', 1, { resource: 'tokens' }),
        source('2026-01-19', 1, { orgId: 'p' }),
        source('2026-01-20', 1, { orgId: 'p' }),
      ],
      [
        'o tokens 2026-01: 2026-01-17 2026-01-18, 2 MB',
        'o users 2026-01: 2026-01-15 2026-01-16, 20 MB',
        'p users 2026-01: 2026-01-19 2026-01-20, 2 MB',
      ],
    ],
    [
      'merges a file without rows, and leaves a large file as it is',
      [source('2026-01-15', 0), source('2026-01-16', 128), source('2026-01-17', 127)],
      ['o users 2026-01: 2026-01-15 2026-01-17, 127 MB'],
    ],
    [
      'puts as many days into a merged file as fit',
      [15, 16, 17, 18, 19, 20].map((day) => source(`2026-01-${day}`, 120)),
      [
        'o users 2026-01: 2026-01-15 2026-01-16 2026-01-17 2026-01-18, 480 MB',
        'o users 2026-01: 2026-01-19 2026-01-20, 240 MB',
      ],
    ],
    [
      'leaves a last day that does not fit as it is',
      [15, 16, 17, 18, 19].map((day) => source(`2026-01-${day}`, 120)),
      ['o users 2026-01: 2026-01-15 2026-01-16 2026-01-17 2026-01-18, 480 MB'],
    ],
  ])('%s', (_, sources, plan) => {
    expect(planned(sources)).toEqual(plan)
  })

  it('includes a month once the last scheduled recheck of its last day is due', () => {
    const february = days('2026-02-03', '2026-02-04')
    expect(planned(february, Date.parse('2026-03-29T23:59:59Z'))).toEqual([])
    expect(planned(february, NOW)).toHaveLength(1)
  })

  it('law 2: does not merge a merged file again until there is a new version', () => {
    const merged = { ...source('2026-01-15'), path: 'merged', bytes: 90 * MB }
    expect(planned([merged])).toEqual([])
    expect(planned([merged, source('2026-01-15', 5)])).toEqual([
      'o users 2026-01: merged 2026-01-15, 95 MB',
    ])
  })
})

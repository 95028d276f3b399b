import { describe, expect, it } from 'vitest'
import { addDays, HISTORY_START, type Day, type DayRange } from '../../../src/lib/days.ts'
import {
  countWithin,
  learnedSize,
  bisectedSize,
  smallestRefused,
  nextSize,
  probeSize,
  type SeenWindows,
} from '../../../src/extract/plan/window-size.ts'

const WEEK = 7 * 86_400_000
const at = (index: number): Day => addDays(HISTORY_START, index)
const range = (first: number, days: number): DayRange => ({
  first: at(first),
  last: at(first + days - 1),
})

function seen(
  answered: number,
  refused: readonly DayRange[] = [],
  failed: readonly number[] = [],
): SeenWindows {
  return { answered, refused, failed: new Set(failed.map(at)) }
}

describe('a refused window', () => {
  it.each([
    [
      'was too wide when all of its days were answered in narrower ones',
      seen(30, [range(0, 60)]),
      60,
    ],
    ['counts when it is the narrowest of several', seen(1, [range(0, 60), range(0, 40)]), 40],
    [
      'says nothing of the size when a day of it failed alone',
      seen(30, [range(0, 60)], [59]),
      undefined,
    ],
    ['says nothing of the size when a wider one was answered', seen(90, [range(0, 60)]), undefined],
    ['is not explained by a failed day elsewhere', seen(30, [range(0, 60)], [60]), 60],
    ['is not found where none was refused', seen(30), undefined],
  ])('%s', (_, windows, expected) => {
    expect(smallestRefused(windows)).toBe(expected)
  })

  it.each([
    ['half its size, while nothing was answered', seen(0, [range(0, 60)]), 60, 30],
    [
      'a size between the widest answered and the narrowest refused',
      seen(20, [range(0, 31)]),
      31,
      25,
    ],
    [
      'half its size, where a wider one was answered and so a day is at fault',
      seen(90, [range(0, 60)]),
      60,
      30,
    ],
    [
      'half its size, where a failed day explains the refusal',
      seen(0, [range(0, 60)], [3]),
      60,
      30,
    ],
    ['a single day at last', seen(1, [range(0, 2)]), 2, 1],
  ])('is followed by %s', (_, windows, span, expected) => {
    expect(bisectedSize(range(0, span), undefined, windows)).toBe(expected)
  })

  it('does not limit the next one where a failed day explains the refusal', () => {
    expect(nextSize(undefined, seen(3, [range(0, 60)], [5]))).toBe(Number.POSITIVE_INFINITY)
  })

  it.each([
    ['is followed by the learned size when it was a wider probe', 62, 31],
    ['is followed by half the learned size when it had that size', 31, 15],
  ])('%s', (_, refused, expected) => {
    const known = { maxDays: 31, tooWide: 32, learntAt: 0, probedAt: 0 }
    expect(nextSize(known, seen(0, [range(0, refused)]))).toBe(expected)
  })
})

describe('the learned window size', () => {
  const known = { maxDays: 31, tooWide: 32, learntAt: 1, probedAt: 1 }
  const now = WEEK

  it.each([
    ['is not known before a refusal', undefined, seen(300), undefined],
    [
      'is the widest answered below the refusal',
      undefined,
      seen(31, [range(0, 33)]),
      { maxDays: 31, tooWide: 33, learntAt: now, probedAt: now },
    ],
    [
      'is one day where no window was answered',
      undefined,
      seen(0, [range(0, 2)]),
      { maxDays: 1, tooWide: 2, learntAt: now, probedAt: now },
    ],
    ['stays while windows fit', known, seen(31), known],
    ['stays where narrower windows are enough', known, seen(6), known],
    [
      'grows when a wider window was answered, and the next run probes again',
      known,
      seen(62),
      { maxDays: 62, tooWide: null, learntAt: now, probedAt: 1 },
    ],
    [
      'stays when a wider window was refused, and the next probe waits',
      known,
      seen(20, [range(0, 62)]),
      { maxDays: 31, tooWide: 32, learntAt: 1, probedAt: now },
    ],
    [
      'keeps the narrowest refused size',
      { ...known, tooWide: 60 },
      seen(31, [range(0, 45)]),
      { maxDays: 31, tooWide: 45, learntAt: 1, probedAt: now },
    ],
    [
      'is learned again when a window within it is refused',
      known,
      seen(7, [range(0, 8)]),
      { maxDays: 7, tooWide: 8, learntAt: now, probedAt: now },
    ],
    [
      'is not changed by a day that is not available yet',
      known,
      seen(9, [range(0, 31)], [30]),
      known,
    ],
  ])('%s', (_, before, windows, expected) => {
    expect(learnedSize(before, windows, now)).toEqual(expected)
  })

  it.each([
    [6, 31, 32, 31],
    [7, 31, 32, 62],
    [7, 31, null, 62],
    [7, 20, 40, 30],
    [7, 1, 2, 2],
    [-300, 31, 32, 62], // recorded by a run whose clock was ahead
  ])(
    '%i days after a refusal, an answered %i and a refused %s allow one window of %i days',
    (...numbers) => {
      const [days, maxDays, tooWide, expected] = numbers
      const cap = { maxDays, tooWide, learntAt: 0, probedAt: 0 }
      expect(probeSize(cap, days * 86_400_000)).toBe(expected)
    },
  )
})

describe('the days of a window of a given size', () => {
  it('are the newest that fit', () => {
    const days = [0, 1, 5, 6, 9].map(at)
    const counts = [1, 2, 4, 5, 9, 10].map((width) => countWithin(days, width))
    expect(counts).toEqual([1, 1, 2, 3, 4, 5])
  })

  it('are none where there are none, and one where the size is too small for any', () => {
    expect(countWithin([], 3)).toBe(0)
    expect(countWithin([at(0), at(1)], 0)).toBe(1)
  })
})

import fc from 'fast-check'
import { addDays, HISTORY_START } from '../../src/lib/days.ts'
import { RESOURCES } from '../../src/lake/resources.ts'
import {
  firstContent,
  NO_FAULTS,
  type Content,
  type Faults,
  type Model,
  type Restatement,
} from './platform.ts'

const NAMES: readonly string[] = RESOURCES.map(({ name }) => name)

/** Few values, so that a restatement often repeats what a day was before. */
const content: fc.Arbitrary<Content> = fc.record({
  rows: fc.integer({ min: 0, max: 3 }),
  value: fc.integer({ min: 0, max: 2 }),
})

function wholeNights(runs: readonly number[]): number[] {
  return [...new Set(runs.map(Math.floor))]
}

function restatement(
  only: readonly string[],
  nights: readonly number[],
): fc.Arbitrary<Restatement> {
  return fc.record({
    resource: fc.constantFrom(...only),
    day: fc.nat({ max: Math.max(...nights) - 1 }),
    nights: fc.subarray([...nights], { minLength: 1 }),
    content,
  })
}

/** Half of the nights are without faults. */
function faults(only: readonly string[], days: number): fc.Arbitrary<Faults> {
  const resource = fc.constantFrom(...only)
  const from = fc.constantFrom('first page' as const, 'second page' as const)
  const badDay = fc.record({
    resource,
    day: fc.nat({ max: days - 1 }),
    status: fc.constantFrom(400 as const, 404 as const, 500 as const),
    from,
  })
  const bump = fc.record({
    resource,
    kind: fc.constantFrom('reset', '500', '503', '429', 'truncated', 'html'),
    times: fc.integer({ min: 1, max: 7 }),
    from,
  })
  const widest = fc.record({
    days: fc.integer({ min: 1, max: 4 }),
    refusal: fc.constantFrom('400', '413', 'timeout', 'size'),
  })
  const bad: fc.Arbitrary<Faults> = fc.record({
    isDown: fc.integer({ min: 0, max: 9 }).map((number) => number === 9),
    patience: fc.option(fc.integer({ min: 0, max: 30 }), { freq: 3 }),
    badDays: fc.array(badDay, { maxLength: 3 }),
    bumps: fc.array(bump, { maxLength: 2 }),
    widest: fc.option(widest, { freq: 1 }),
  })
  return fc.oneof(fc.constant(NO_FAULTS), bad)
}

/** Which resources of a platform are synced in which nights, some nights left out. */
export interface History {
  readonly only: readonly string[]
  /** Days since history began, rising; a fraction is a second run of the night, hours later. */
  readonly nights: readonly number[]
  readonly model: Model
}

export interface HistoryBounds {
  readonly firstNight: number
  readonly lastNight: number
  /** The most runs. */
  readonly runs: number
  readonly resources: number
  readonly restatements: number
}

/** Random histories: restatements and faults differ from night to night. */
export function histories(bounds: HistoryBounds): fc.Arbitrary<History> {
  const span = Array.from({ length: bounds.lastNight - bounds.firstNight }, (_, index) =>
    [0, 3 / 24].map((hours) => bounds.firstNight + index + hours),
  ).flat()
  const only = fc.subarray([...NAMES], { minLength: 1, maxLength: bounds.resources })
  const nights = fc.subarray(span, { minLength: 2, maxLength: bounds.runs })
  return fc.tuple(only, nights).chain(([names, chosen]) =>
    fc.record({
      only: fc.constant(names),
      nights: fc.constant(chosen),
      model: fc.record({
        seed: fc.nat({ max: 9_999 }),
        restatements: fc.array(restatement(names, wholeNights(chosen)), {
          maxLength: bounds.restatements,
        }),
        nights: fc
          .array(faults(names, bounds.lastNight), {
            minLength: chosen.length,
            maxLength: chosen.length,
          })
          .map((each) => new Map(chosen.map((night, index) => [night, each[index] ?? NO_FAULTS]))),
      }),
    }),
  )
}

/** Final days of one resource, restated with other values. */
export function oldHistories(bounds: {
  readonly firstNight: number
  readonly lastNight: number
  readonly restatements: number
}): fc.Arbitrary<History> {
  const { firstNight, lastNight } = bounds
  const nights = Array.from({ length: lastNight - firstNight + 1 }, (_, at) => firstNight + at)
  return fc.constantFrom(...NAMES).chain((name) =>
    fc.record({
      only: fc.constant([name]),
      nights: fc.constant(nights),
      model: fc.nat({ max: 9_999 }).chain((seed) =>
        fc.record({
          seed: fc.constant(seed),
          restatements: fc
            .array(restatement([name], nights), { maxLength: bounds.restatements })
            .map((all) => all.map((each) => ({ ...each, content: resized(seed, each) }))),
          nights: fc.constant(new Map()),
        }),
      ),
    }),
  )
}

/** As many rows as the day had: fewer could be a volume anomaly. */
function resized(seed: number, { resource, day, content: { value } }: Restatement): Content {
  const { rows } = firstContent(seed, resource, addDays(HISTORY_START, day))
  return { rows, value: value + 3 }
}

/** How a measure adds up: the values of `config.meta.additivity`. */
export const ADDITIVITIES = [
  /** Over everything. */
  'additive',
  /** Over everything but time: the last day stands for a period. */
  'snapshot',
  /** Within its whole, on one day. */
  'share',
  /** A count of people, who may be the same on another day or in another part. */
  'distinct_per_day',
  /** Of the days up to this one: the last day stands for a period. */
  'trailing',
  'ratio',
  'average',
  'percentile',
  /** The most frequent value. */
  'mode',
  /** Nothing that can be added. */
  'none',
] as const

export type Additivity = (typeof ADDITIVITIES)[number]

/** The measures in a value: the additivity and the name of each. */
export interface Value {
  readonly measures: ReadonlyMap<Additivity, string>
  /** Whether it is the day or month of a row. */
  readonly isTime: boolean
}

export const PLAIN: Value = { measures: new Map(), isTime: false }

export function measured(additivity: Additivity, name: string): Value {
  return { measures: new Map([[additivity, name]]), isTime: false }
}

/** A value made of all of these. */
export function mixed(values: readonly Value[]): Value {
  return { measures: new Map(values.flatMap(({ measures }) => [...measures])), isTime: false }
}

/** The measures that must not be summed over rows grouped by time, or not grouped. */
export function unsummable({ measures }: Value, isTimeKept: boolean): string[] {
  return [...measures]
    .filter(([additivity]) => !addsUp(additivity, isTimeKept))
    .map(([additivity, name]) => `${name}, which is ${additivity}`)
}

function addsUp(additivity: Additivity, isTimeKept: boolean): boolean {
  if (additivity === 'snapshot' || additivity === 'share') return isTimeKept
  return additivity === 'additive'
}

/** A value picked from several rows does not add up. */
export function picked({ measures }: Value): Value {
  const kept = [...measures].map(
    ([additivity, name]) => [additivity === 'additive' ? 'none' : additivity, name] as const,
  )
  return { measures: new Map(kept), isTime: false }
}

/**
 * What limits like "R requests a second, B at once" are, read from what a
 * server let through. Its bucket of B tokens is refilled R times a second, a
 * request takes a token, and a refusal says that none was left. So, for any
 * time s before a refusal at T, requests let through in between ≤ B + R·(T − s),
 * and equal for the last s at which the bucket was full.
 */

/** A moment (milliseconds) and how many requests had been let through before it. */
export interface Mark {
  readonly at: number
  readonly passed: number
}

/** A time up to a refusal, and the requests that were let through in it. */
interface Stretch {
  readonly seconds: number
  readonly passed: number
}

/** A bucket as one refusal shows it: so many tokens, if it is refilled at that rate. */
export type Shape = readonly Stretch[]

/** A rate in requests a second, and by how much it may be wrong. */
export interface Estimate {
  readonly rate: number
  readonly doubt: number
}

const FINEST_MS = 10
const MANY = 160
/** Marks may lie this part of their age apart. */
const COARSENESS = 0.05

/** Adds a mark. Old ones are thinned, so that there are never many. */
export function withMark(marks: readonly Mark[], mark: Mark): readonly Mark[] {
  const last = marks.at(-1)
  if (last !== undefined && mark.at - last.at < FINEST_MS) return marks
  return [...(marks.length < MANY ? marks : thinned(marks, mark.at)), mark]
}

function thinned(marks: readonly Mark[], now: number): Mark[] {
  let kept = -Infinity
  return marks.filter((mark, index) => {
    const next = marks[index + 1]
    const isSpare = next !== undefined && next.at - kept < COARSENESS * (now - mark.at)
    if (!isSpare) kept = mark.at
    return !isSpare
  })
}

/** The bucket as a refusal at that mark shows it. */
export function shapeAt(marks: readonly Mark[], refusal: Mark): Shape {
  return marks
    .filter(({ at }) => at < refusal.at)
    .map(({ at, passed }) => ({
      seconds: (refusal.at - at) / 1000,
      passed: refusal.passed - passed,
    }))
}

/** A bucket of a known size. */
export function shapeOf(burst: number): Shape {
  return [{ seconds: 0, passed: burst }]
}

/** Tokens that the bucket holds when full, if it is refilled at that rate. */
export function burstOf(shape: Shape, rate: number): number {
  return Math.max(1, fullest(shape, rate).tokens)
}

function fullest(shape: Shape, rate: number): { tokens: number; seconds: number } {
  let most = { tokens: 1, seconds: 0 }
  for (const { seconds, passed } of shape) {
    const tokens = passed - rate * seconds
    if (tokens > most.tokens) most = { tokens, seconds }
  }
  return most
}

/** Tokens by which two counts of one bucket differ though nothing is wrong. */
const SLACK = 0.5
const CONTRADICTION = 1.5
const STEP = 1.03
const HIGHEST_RATE = 1e5
const LOWEST_RATE = 0.02

/**
 * The rate at which a bucket is refilled, from its shape as an earlier refusal
 * shows it and as this one does. The bucket was `empty` at the refusal before:
 * what was let through since is the least the rate can be, and is the rate
 * unless the bucket ran over in between; then both shapes agree at one rate
 * only. `noise` is by how many requests the counts may be wrong.
 */
export function estimateRate(
  earlier: Shape,
  current: Shape,
  empty: Mark | undefined,
  refusal: Mark,
  noise: number,
): Estimate {
  const excess = (rate: number): number =>
    fullest(current, rate).tokens - fullest(earlier, rate).tokens
  const since = empty ?? refusal
  const seconds = Math.max(0.02, (refusal.at - since.at) / 1000)
  const least = Math.max(LOWEST_RATE, (refusal.passed - since.passed + 0.5) / seconds)
  if (empty === undefined || excess(least) > SLACK) {
    const rate = firstRate(least, (each) => excess(each) <= 0)
    const span = Math.abs(fullest(current, rate).seconds - fullest(earlier, rate).seconds)
    return { rate, doubt: noise / Math.max(span, 0.02) }
  }
  const most = firstRate(least, (each) => excess(each) > CONTRADICTION)
  if (most >= HIGHEST_RATE) return { rate: least, doubt: noise / seconds }
  return { rate: (least + most) / 2, doubt: (most - least) / 2 + noise / seconds }
}

/** The lowest rate from `least` on for which `holds`; at most HIGHEST_RATE. */
function firstRate(least: number, holds: (rate: number) => boolean): number {
  let above = least
  while (above < HIGHEST_RATE && !holds(above)) above *= STEP
  if (above === least || above >= HIGHEST_RATE) return above
  let below = above / STEP
  for (let round = 0; round < 20; round += 1) {
    const middle = (below + above) / 2
    if (holds(middle)) above = middle
    else below = middle
  }
  return above
}

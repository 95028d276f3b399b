import { MS_PER_DAY } from '../../lib/days.ts'
import type { LearnedLimit } from '../../lib/learned.ts'

/**
 * Estimates a limit like "R requests a second, B at once" from which requests passed.
 * The server has a bucket of B tokens that is refilled R times a second; a request takes
 * a token, and is refused if there is none. For a given R, the number of missing tokens
 * can be computed without B: if a request passed with m tokens missing, B is at least m;
 * if one was refused, B is at most m. The error of an R is how far these two bounds
 * overlap.
 */

/** A possible refill rate, within half a step, and what it implies. */
interface Candidate {
  readonly rate: number
  low: number
  high: number
  /** The range of the number of tokens in a full bucket. */
  least: number
  most: number
  /** Tokens by which recent requests contradict the rate. */
  error: number
}

/**
 * All candidates by ascending rate, at a time in milliseconds. Requests change it in place:
 * a thousand new objects per request were most of the garbage of a night.
 */
export interface Bucket {
  at: number
  readonly candidates: readonly Candidate[]
}

const LOWEST_RATE = 0.02
const HIGHEST_RATE = 2000
const STEP = 1.01
const RATES = Array.from(
  { length: Math.ceil(Math.log(HIGHEST_RATE / LOWEST_RATE) / Math.log(STEP)) },
  (_, index) => LOWEST_RATE * STEP ** index,
)

const SMALLEST = 1
/** A bucket with fewer missing tokens is full, and refuses nothing. */
const FULL = 0.1

export function unknownBucket(at: number): Bucket {
  const full = { low: 0, high: 0, least: SMALLEST, most: Infinity, error: 0 }
  return { at, candidates: RATES.map((rate) => ({ rate, ...full })) }
}

/** The error of a rate that was not remembered, or that a refusal rules out. */
const IMPOSSIBLE = 3

/** The bucket that an earlier run measured; `doubt` is the relative uncertainty of its rate. */
export function rememberedBucket(rate: number, burst: number, doubt: number, at: number): Bucket {
  const { candidates } = unknownBucket(at)
  const known = Math.min(Math.max(rate, LOWEST_RATE), HIGHEST_RATE / STEP)
  return {
    at,
    candidates: candidates.map((each) =>
      Math.abs(Math.log(each.rate / known)) <= Math.max(doubt, STEP - 1)
        ? { ...each, least: Math.max(SMALLEST, 0.9 * burst - 1) }
        : { ...each, error: IMPOSSIBLE },
    ),
  }
}

/** The highest error, so that a changed limit is accepted after a few requests. */
const WORST = 10

/** The rates between a candidate and the next ones: half a step less, half a step more. */
const SLOWER = STEP ** -0.5
const FASTER = STEP ** 0.5

/** Adds the request sent at `at`. Changes and returns the bucket. */
export function withRequest(bucket: Bucket, at: number, isRefused: boolean): Bucket {
  const seconds = Math.max(0, at - bucket.at) / 1000
  const take = isRefused ? takeRefused : takePassed
  for (const each of bucket.candidates) {
    each.low = Math.max(0, each.low - each.rate * FASTER * seconds) + 1
    each.high = Math.max(0, each.high - each.rate * SLOWER * seconds) + 1
    each.error = Math.min(WORST, each.error + take(each))
  }
  bucket.at = Math.max(at, bucket.at)
  return bucket
}

/** Returns by how many tokens the request contradicts the candidate. */
function takePassed(each: Candidate): number {
  const contradicted = Math.max(0, each.low - each.most)
  each.low = Math.min(each.low, each.most)
  each.high = Math.min(each.high, each.most)
  each.least = Math.max(each.least, each.low)
  return contradicted
}

function takeRefused(each: Candidate): number {
  const { low, high } = each
  const taken = Math.max(high, each.least)
  const impossible = (low + high) / 2 < 1 + FULL ? IMPOSSIBLE : 0
  each.low = Math.max(low, each.least) - 1
  each.high = taken - 1
  each.most = Math.min(each.most, taken)
  return taken - high + impossible
}

/** Halves the weight of earlier requests. Changes and returns the bucket. */
export function faded(bucket: Bucket): Bucket {
  for (const each of bucket.candidates) each.error /= 2
  return bucket
}

/** Tokens by which recent requests contradict every rate. */
export function contradictionOf({ candidates }: Bucket): number {
  return candidates.reduce((least, { error }) => Math.min(least, error), Infinity)
}

/** The range of rates that the requests allow. */
interface Range {
  readonly low: number
  readonly high: number
  /** Tokens of a full bucket. */
  readonly burst: number
}

/** Tokens by which an estimate may be wrong. */
const NOISE = 0.1

/** The candidates whose error is the lowest, within noise. */
export function rangeOf(bucket: Bucket): Range {
  const { candidates } = bucket
  const best = contradictionOf(bucket)
  const plausible = candidates.filter(({ error }) => error <= best + NOISE)
  const burst = plausible[plausible.length >> 1]?.least ?? SMALLEST
  return {
    low: plausible[0]?.rate ?? LOWEST_RATE,
    high: plausible.at(-1)?.rate ?? HIGHEST_RATE,
    burst,
  }
}

/** The estimate of a limit that refused a request. */
export interface Limit extends Range {
  /** Requests a second after the last refusal, and when requests began again. */
  readonly from: number
  readonly since: number
  readonly measuredAt: number
}

const FRESH_UNCERTAINTY = 0.02
const UNCERTAINTY_PER_DAY = 0.002
const FORGOTTEN_AFTER_DAYS = 7

/**
 * The limit of an earlier run; null after a week without a refusal. A short run is too short to try
 * a higher rate, so refusals of one night that had another cause would slow every later one. A run
 * whose clock was ahead may have measured it at a time to come.
 */
export function stillKnown(limit: LearnedLimit | null, now: number): LearnedLimit | null {
  if (limit === null) return null
  const isNear = Math.abs(now - limit.measuredAt) <= FORGOTTEN_AFTER_DAYS * MS_PER_DAY
  return isNear ? limit : null
}

/** The estimate of a limit that an earlier run measured, which is less certain with each day. */
export function remembered(
  learned: LearnedLimit | null,
  now: number,
): { readonly limit: Limit | undefined; readonly bucket: Bucket } {
  if (learned?.source !== 'refusals') return { limit: undefined, bucket: unknownBucket(now) }
  const { rate, burst, measuredAt } = learned
  const days = Math.max(0, now - measuredAt) / MS_PER_DAY
  const bucket = rememberedBucket(rate, burst, FRESH_UNCERTAINTY + UNCERTAINTY_PER_DAY * days, now)
  const range = rangeOf(bucket)
  return { bucket, limit: { ...range, from: range.low, since: now, measuredAt } }
}

const BURSTS_PER_SECOND = 3

/** The limit after a refusal; if the range is still wide, the first rate is guessed from the burst. */
export function limitOf(bucket: Bucket, refusedAt: number, now: number): Limit {
  const range = rangeOf(bucket)
  const guess = Math.min(BURSTS_PER_SECOND * range.burst, range.high / 2)
  return { ...range, from: Math.max(range.low, guess), since: now, measuredAt: refusedAt }
}

/** True if the rate is known well enough to be remembered. */
export function isMeasured({ low, high }: Range): boolean {
  return high < 1.5 * low
}

const FIRST_SHARE = 0.25
const BOLDNESS = 0.6

/** The part of a full bucket that is kept as a reserve; the rest is used within half a second. */
const RESERVE = 0.35
const SPEND_PER_SECOND = 2

/**
 * Requests a second at a time when the bucket holds `level` tokens. The first rate
 * doubles every second, but stays low in the estimated range: at a quarter of it, then
 * higher with time, and faster in a wide range. Because limits change, the rate also
 * grows by a tenth within a minute or 600 requests, and faster after that. Saved tokens
 * are used as well.
 */
export function limitRate(limit: Limit, level: number, now: number): number {
  const { low, high, from, burst, since } = limit
  const seconds = Math.max(0, now - since) / 1000
  const share = Math.min(1, FIRST_SHARE + BOLDNESS * (high / low - 1) ** 2 * seconds)
  const rate = Math.min(from * 2 ** seconds, low + share * (high - low))
  const patience = Math.min(300, Math.max(60, 600 / rate))
  const probe = 0.1 * rate * (seconds / patience) ** 3
  const saved = isMeasured(limit) ? Math.max(0, level - RESERVE * burst) * SPEND_PER_SECOND : 0
  return rate + probe + saved
}

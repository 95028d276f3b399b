import type { Day } from '../../lib/days.ts'
import { messageOf } from '../../lib/errors.ts'
import type { IntervalOutcome } from '../../lib/events.ts'
import type { World } from '../../lib/world.ts'
import { ApiError, requestIdOf } from '../../client/index.ts'
import {
  intervalKey,
  isOld,
  type Interval,
  type Ledger,
  type LedgerFile,
  type PendingConfirmation,
} from '../../lake/ledger.ts'
import type { LandedDay } from './raw-writer.ts'
import type { PageOrigin } from './row-lines.ts'
import type { ChecksOfRun } from '../plan/volume-anomaly.ts'

export interface LandedInterval {
  readonly day: Day
  /** Of the last page. */
  readonly origin: PageOrigin
  readonly result: LandedDay
  /** Rows, or users where a user can be served twice. */
  readonly rowCount: number
  /** See Interval. */
  readonly witness?: string | null
}

/** A final day that came back much smaller. Sizes are users, daily active users, or rows. */
export interface VolumeAnomaly {
  readonly known: Interval
  readonly sizeBefore: number
  readonly size: number
}

/** Keeps the ledger of one organisation during a run, and reports what happened. */
export class IntervalRecorder {
  readonly #ledger: LedgerFile
  readonly #world: World
  readonly #orgId: string
  readonly #checks: ChecksOfRun
  readonly counts = { landed: 0, failed: 0 }

  constructor(ledger: LedgerFile, orgId: string, world: World, checks: ChecksOfRun) {
    this.#ledger = ledger
    this.#orgId = orgId
    this.#world = world
    this.#checks = checks
  }

  get intervals(): Ledger {
    return this.#ledger.intervals
  }

  /** What is known of the day; undefined before it was ever asked for. */
  interval(resource: string, day: Day): Interval | undefined {
    return this.intervals.get(intervalKey(resource, day))
  }

  /** Whether a day of the resource is in the lake. */
  hasLanded(resource: string): boolean {
    return this.#of(resource).some(({ file }) => file !== null)
  }

  async landed(resource: string, landed: readonly LandedInterval[]): Promise<void> {
    await this.#ledger.record(landed.map((each) => this.#intervalOf(resource, each)))
    this.counts.landed += landed.length
    for (const { day, result, rowCount } of landed) {
      this.#finished(resource, day, outcomeOf(result), rowCount)
    }
  }

  /** All pages of the day are of one snapshot, as far as can be known. */
  async verified(intervals: readonly Interval[]): Promise<void> {
    await this.#ledger.record(intervals.map((each) => ({ ...each, witness: null })))
  }

  /** Rows that wait for confirmation: the day stays as it landed until they are served again. */
  async pending(anomaly: VolumeAnomaly, suspect: PendingConfirmation): Promise<void> {
    const { known } = anomaly
    const attempts = known.attempts + 1
    await this.#ledger.record([{ ...known, attempts, error: null, suspect }])
    this.counts.landed += 1
    this.#finished(known.resource, known.day, 'unchanged', known.rowCount ?? 0)
    this.anomalyFound(anomaly, false)
  }

  /** `isConfirmed`: the rows were served a second time, and count. */
  anomalyFound({ known, sizeBefore, size }: VolumeAnomaly, isConfirmed: boolean): void {
    const { resource, day } = known
    const what = { orgId: this.#orgId, resource, day, sizeBefore, size, isConfirmed }
    this.#world.emit({ type: 'interval.shrunk', ...what })
  }

  /**
   * A recheck that failed leaves the day landed: what is known of it stays true.
   * Where the platform refuses an old day that the user did not ask for, its recheck
   * is done: the platform may forget old days.
   */
  async failed(resource: string, days: readonly Day[], error: unknown): Promise<void> {
    const known = days.map((day) => this.#known(resource, day))
    const { plannedAt: refusedAt, isForced } = this.#checks
    const isKept = ({ day, fetchedAt }: Interval): boolean =>
      !isForced && isRefusal(error) && fetchedAt !== null && isOld(day, refusedAt)
    const failed = known.filter((interval) => !isKept(interval))
    const kept = known.filter(isKept)
    await this.#ledger.record([
      ...failed.map((interval) => afterFailure(interval, error)),
      ...kept.map((interval) => ({ ...afterFailure(withoutPending(interval), error), refusedAt })),
    ])
    this.counts.failed += failed.length
    this.counts.landed += kept.length
    const why = { error: messageOf(error), requestId: requestIdOf(error) }
    for (const { day } of failed)
      this.#world.emit({ type: 'interval.failed', orgId: this.#orgId, resource, day, ...why })
    for (const { day, rowCount } of kept) this.#finished(resource, day, 'unchanged', rowCount ?? 0)
    const [first, last] = [kept[0], kept.at(-1)]
    if (first === undefined || last === undefined) return
    const range = first === last ? first.day : `${first.day} to ${last.day}`
    const message = `${resource} ${range} of ${this.#orgId}: what has landed is kept, but the platform no longer serves it: ${why.error}`
    this.#world.emit({ type: 'warning', message })
  }

  /** What this credential was never given: on record, and no failure of the night. */
  async withheld(resource: string, day: Day, error: unknown): Promise<void> {
    await this.#ledger.record([afterFailure(this.#known(resource, day), error)])
  }

  /** What failed days of a resource lacked has landed on a later one: nothing is missing. */
  async recovered(resource: string): Promise<void> {
    const failed = this.#of(resource).filter(({ status }) => status === 'failed')
    if (failed.length > 0) await this.#ledger.forget(failed)
  }

  #of(resource: string): Interval[] {
    return [...this.intervals.values()].filter((interval) => interval.resource === resource)
  }

  #known(resource: string, day: Day): Interval {
    return this.interval(resource, day) ?? { resource, day, ...NEVER_LANDED }
  }

  #intervalOf(resource: string, landed: LandedInterval): Interval {
    const { day, origin, result, rowCount, witness = null } = landed
    const { versions, file, sha256, digest } = result
    return {
      resource,
      day,
      status: result.rows === 0 ? 'empty' : 'landed',
      fetchedAt: origin.fetchedAt,
      rowCount,
      versions,
      attempts: this.#known(resource, day).attempts + 1,
      requestId: origin.requestId,
      file,
      sha256,
      digest,
      error: null,
      witness,
    }
  }

  #finished(resource: string, day: Day, outcome: IntervalOutcome, rows: number): void {
    const what = { orgId: this.#orgId, resource, day, outcome, rows }
    this.#world.emit({ type: 'interval.finished', ...what })
  }
}

/** Answers that say that the day is not served, to any credential and at any time. */
const REFUSALS = [400, 404, 410]

function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && REFUSALS.includes(error.status)
}

function afterFailure(known: Interval, error: unknown): Interval {
  return {
    ...known,
    attempts: known.attempts + 1,
    error: messageOf(error),
    requestId: requestIdOf(error) ?? known.requestId,
  }
}

/** The answer that was to be confirmed was refused. */
function withoutPending(interval: Interval): Interval {
  const copy = { ...interval }
  delete copy.suspect
  return copy
}

function outcomeOf(result: LandedDay): IntervalOutcome {
  if (!result.isNew) return 'unchanged'
  return result.rows === 0 ? 'empty' : 'landed'
}

const NEVER_LANDED = {
  status: 'failed',
  fetchedAt: null,
  rowCount: null,
  versions: 0,
  attempts: 0,
  requestId: null,
  file: null,
  sha256: null,
  digest: null,
  error: null,
} as const

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

  paginationResumed(resource: string, day: Day, pages: number): void {
    this.#world.emit({ type: 'walk.resumed', orgId: this.#orgId, resource, day, pages })
  }

  pageLanded(resource: string, day: Day, rows: number): void {
    this.#world.emit({ type: 'page.landed', orgId: this.#orgId, resource, day, rows })
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
  async pending(
    resource: string,
    anomaly: VolumeAnomaly,
    suspect: PendingConfirmation,
  ): Promise<void> {
    const { known } = anomaly
    const attempts = known.attempts + 1
    await this.#ledger.record([{ ...known, attempts, error: null, suspect }])
    this.counts.landed += 1
    this.#finished(resource, known.day, 'unchanged', known.rowCount ?? 0)
    this.#anomalyFound(resource, anomaly, false)
  }

  /** Rows that were served a second time: they count. */
  confirmed(resource: string, anomaly: VolumeAnomaly): void {
    this.#anomalyFound(resource, anomaly, true)
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
    this.#emitFailed(resource, failed, error)
    this.#emitKept(resource, kept, error)
  }

  /** What this credential was never given: on record, and no failure of the night. */
  async withheld(resource: string, day: Day, error: unknown): Promise<void> {
    await this.#ledger.record([afterFailure(this.#known(resource, day), error)])
  }

  /** What failed days of a resource lacked has landed on a later one: nothing is missing. */
  async recovered(resource: string): Promise<void> {
    const failed = [...this.#ledger.intervals.values()].filter(
      (interval) => interval.resource === resource && interval.status === 'failed',
    )
    if (failed.length > 0) await this.#ledger.forget(failed)
  }

  #intervalOf(resource: string, landed: LandedInterval): Interval {
    const { day, origin, result, rowCount, witness = null } = landed
    return {
      resource,
      day,
      status: result.rows === 0 ? 'empty' : 'landed',
      fetchedAt: origin.fetchedAt,
      rowCount,
      versions: result.versions,
      attempts: this.#known(resource, day).attempts + 1,
      requestId: origin.requestId,
      file: result.file,
      sha256: result.sha256,
      digest: result.digest,
      error: null,
      witness,
    }
  }

  /** What is known of the day; undefined before it was ever asked for. */
  interval(resource: string, day: Day): Interval | undefined {
    return this.#ledger.intervals.get(intervalKey(resource, day))
  }

  /** Whether a day of the resource is in the lake. */
  hasLanded(resource: string): boolean {
    return [...this.intervals.values()].some(
      (interval) => interval.resource === resource && interval.file !== null,
    )
  }

  #known(resource: string, day: Day): Interval {
    return this.interval(resource, day) ?? neverLanded(resource, day)
  }

  #emitFailed(resource: string, intervals: readonly Interval[], thrown: unknown): void {
    const [error, requestId] = [messageOf(thrown), requestIdOf(thrown)]
    for (const { day } of intervals) {
      const { type, orgId } = { type: 'interval.failed', orgId: this.#orgId } as const
      this.#world.emit({ type, orgId, resource, day, error, requestId })
    }
  }

  #emitKept(resource: string, intervals: readonly Interval[], thrown: unknown): void {
    const first = intervals[0]
    const last = intervals.at(-1)
    if (first === undefined || last === undefined) return
    for (const { day, rowCount } of intervals) {
      this.#finished(resource, day, 'unchanged', rowCount ?? 0)
    }
    const days = first === last ? first.day : `${first.day} to ${last.day}`
    const message = `${resource} ${days} of ${this.#orgId}: what has landed is kept, but the platform no longer serves it: ${messageOf(thrown)}`
    this.#world.emit({ type: 'warning', message })
  }

  #finished(resource: string, day: Day, outcome: IntervalOutcome, rows: number): void {
    const { type, orgId } = { type: 'interval.finished', orgId: this.#orgId } as const
    this.#world.emit({ type, orgId, resource, day, outcome, rows })
  }

  #anomalyFound(resource: string, anomaly: VolumeAnomaly, isConfirmed: boolean): void {
    const { type, orgId } = { type: 'interval.shrunk', orgId: this.#orgId } as const
    const { known, sizeBefore, size } = anomaly
    this.#world.emit({ type, orgId, resource, day: known.day, sizeBefore, size, isConfirmed })
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

function neverLanded(resource: string, day: Day): Interval {
  return {
    resource,
    day,
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
  }
}

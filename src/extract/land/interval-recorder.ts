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
} from '../../lake/ledger.ts'
import type { LandedDay } from './raw-writer.ts'
import type { ChecksOfRun, VolumeAnomaly } from '../plan/volume-anomaly.ts'

interface LandedInterval extends LandedDay {
  /** See Interval. */
  readonly witness?: string | null
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
    for (const each of landed)
      this.#finished(resource, each.day, outcomeOf(each), each.rowCount ?? each.content.count)
  }

  /** All pages of the day are of one snapshot, as far as can be known. */
  async verified(intervals: readonly Interval[]): Promise<void> {
    await this.#ledger.record(intervals.map((each) => ({ ...each, witness: null })))
  }

  /** Rows that wait for confirmation: the day stays as it landed until they are served again. */
  async pending(anomaly: VolumeAnomaly): Promise<void> {
    const { known, served } = anomaly
    const attempts = known.attempts + 1
    const suspect = known.suspect?.digest === served.digest ? known.suspect : served
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
    const { day, content, versions, file, sha256, witness = null } = landed
    const { digest, count, last } = content
    return {
      resource,
      day,
      status: count === 0 ? 'empty' : 'landed',
      fetchedAt: last.fetchedAt,
      rowCount: landed.rowCount ?? count,
      versions,
      attempts: this.#known(resource, day).attempts + 1,
      requestId: last.requestId,
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

function outcomeOf({ isNew, content }: LandedDay): IntervalOutcome {
  if (!isNew) return 'unchanged'
  return content.count === 0 ? 'empty' : 'landed'
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

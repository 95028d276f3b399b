import { monthOf, type Day } from '../../lib/days.ts'
import { messageOf } from '../../lib/errors.ts'
import type { IntervalOutcome } from '../../lib/events.ts'
import { warner, type World } from '../../lib/world.ts'
import { ApiError, requestIdOf } from '../../client/index.ts'
import {
  intervalKey,
  isConfirmationDue,
  isOld,
  type Interval,
  type LedgerFile,
  type PendingConfirmation,
} from '../../lake/ledger.ts'
import type { ServedDay } from './row-lines.ts'

/** When a run was planned, which decides what a response in it may confirm. */
interface ConfirmationRule {
  /** By the platform's clock, milliseconds since the epoch. */
  readonly plannedAt: number
  /** Whether the user asked for the days again. */
  readonly isForced: boolean
}

/** A settled day that came back much smaller. Sizes are users, daily active users, or rows. */
export interface VolumeAnomaly {
  readonly known: Interval
  readonly served: PendingConfirmation
  readonly sizeBefore: number
  readonly size: number
}

/** A day, and its version in the lake after landing. */
export interface LandedDay extends ServedDay {
  readonly file: string
  readonly sha256: string
  readonly versions: number
  /** False if the newest version in the lake already had these rows. */
  readonly isNew: boolean
  /** See Interval. */
  readonly witness?: string | null
}

/** Records intervals in the ledger of one organisation during a run, and emits events. */
export class IntervalRecorder {
  readonly #ledger: LedgerFile
  readonly #world: World
  readonly #confirmation: ConfirmationRule
  /** The last outcome of each interval in this run, by key. */
  readonly #outcomes = new Map<string, 'landed' | 'failed'>()
  /** By month, the keys of missing intervals that have neither landed nor failed yet. */
  readonly #missing = new Map<string, Set<string>>()
  /** Refused rechecks of old days. */
  readonly #refusals: { resource: string; days: readonly Day[]; error: unknown }[] = []
  #onMonthComplete: (month: string) => void = () => undefined

  constructor(ledger: LedgerFile, world: World, confirmation: ConfirmationRule) {
    this.#ledger = ledger
    this.#world = world
    this.#confirmation = confirmation
  }

  /** Intervals by their last outcome: a day that failed and landed later in the run has landed. */
  get counts(): { readonly landed: number; readonly failed: number } {
    const outcomes = [...this.#outcomes.values()]
    const failed = outcomes.filter((outcome) => outcome === 'failed').length
    return { landed: outcomes.length - failed, failed }
  }

  interval(resource: string, day: Day): Interval | undefined {
    return this.#ledger.intervals.get(intervalKey(resource, day))
  }

  hasLanded(resource: string): boolean {
    return this.#intervalsOf(resource).some(({ file }) => file !== null)
  }

  /** Whether the last day on which the resource was requested has an error. */
  hasFailed(resource: string): boolean {
    const [last] = this.#intervalsOf(resource).sort((a, b) => (a.day < b.day ? 1 : -1))
    return last !== undefined && last.error !== null
  }

  /** Calls `report` with each month of these days once all of them have landed or failed. */
  reportMonths(
    missing: readonly Pick<Interval, 'resource' | 'day'>[],
    report: (month: string) => void,
  ): void {
    for (const { resource, day } of missing) {
      const keys = this.#missing.get(monthOf(day)) ?? new Set()
      this.#missing.set(monthOf(day), keys.add(intervalKey(resource, day)))
    }
    this.#onMonthComplete = report
  }

  async landed(resource: string, landed: readonly LandedDay[]): Promise<void> {
    await this.#ledger.record(landed.map((each) => this.#intervalOfLanded(resource, each)))
    for (const { day, isNew, content, rowCount = content.count } of landed) {
      const outcome = content.count === 0 ? 'empty' : 'landed'
      this.#finished(resource, day, isNew ? outcome : 'unchanged', rowCount)
    }
  }

  /** Records that, as far as can be known, the pages of each day come from one snapshot. */
  async verified(intervals: readonly Interval[]): Promise<void> {
    await this.#ledger.record(intervals.map((each) => ({ ...each, witness: null })))
  }

  /**
   * Whether an earlier response had the same rows: one from long enough ago or, if the user
   * requests the days again, one from an earlier run.
   */
  isConfirmed({ known: { suspect: pending }, served }: VolumeAnomaly): boolean {
    if (pending?.digest !== served.digest) return false
    const { isForced, plannedAt } = this.#confirmation
    return isConfirmationDue(pending, served.seenAt) || (isForced && pending.seenAt < plannedAt)
  }

  /** Records a volume anomaly: the day keeps its version until the same rows are served again. */
  async pending(anomaly: VolumeAnomaly): Promise<void> {
    const { known, served } = anomaly
    const attempts = known.attempts + 1
    const suspect = known.suspect?.digest === served.digest ? known.suspect : served
    await this.#ledger.record([{ ...known, attempts, error: null, suspect }])
    this.#finished(known.resource, known.day, 'unchanged', known.rowCount ?? 0)
    this.anomalyFound(anomaly, false)
  }

  /** @param isConfirmed whether the rows were served a second time, and are accepted. */
  anomalyFound({ known, sizeBefore, size }: VolumeAnomaly, isConfirmed: boolean): void {
    const { resource, day } = known
    const what = { orgId: this.#ledger.orgId, resource, day, sizeBefore, size, isConfirmed }
    this.#world.emit({ type: 'interval.shrunk', ...what })
  }

  /**
   * Records failed days. A day that has landed stays landed if its recheck fails. Whether a refused
   * recheck of an old day failed is only known at the end of the requests (`endRefusals`).
   */
  async failed(resource: string, days: readonly Day[], error: unknown): Promise<void> {
    const known = days.map((day) => this.#knownOrNew(resource, day))
    const { plannedAt, isForced } = this.#confirmation
    const isRefusal = error instanceof ApiError && REFUSALS.includes(error.status)
    const mayBeGone = ({ day, fetchedAt }: Interval): boolean =>
      !isForced && isRefusal && fetchedAt !== null && isOld(day, plannedAt)
    const old = known.filter(mayBeGone)
    if (old.length > 0) this.#refusals.push({ resource, days: old.map(({ day }) => day), error })
    const others = known.filter((interval) => !mayBeGone(interval))
    await this.#failed(resource, others, error)
  }

  /**
   * Records the refused rechecks of old days. If the platform answered for another day of the
   * resource in this run, they count as done, because it may drop old days; if it refused them all,
   * they failed.
   */
  async endRefusals(): Promise<void> {
    const hasLanded = (resource: string, day: Day): boolean =>
      this.#outcomes.get(intervalKey(resource, day)) === 'landed'
    for (const { resource, days, error } of this.#refusals.splice(0)) {
      const isAnswered = this.#intervalsOf(resource).some(({ day }) => hasLanded(resource, day))
      // another request may have been answered since
      const open = days.filter((day) => !hasLanded(resource, day))
      const known = open.map((day) => this.#knownOrNew(resource, day))
      if (isAnswered) await this.#kept(resource, known, error)
      else await this.#failed(resource, known, error)
    }
  }

  async #failed(resource: string, known: readonly Interval[], error: unknown): Promise<void> {
    await this.#ledger.record(known.map((interval) => afterFailure(interval, error)))
    const why = { error: messageOf(error), requestId: requestIdOf(error) }
    for (const { day } of known) {
      this.#world.emit({
        type: 'interval.failed',
        orgId: this.#ledger.orgId,
        resource,
        day,
        ...why,
      })
      this.#noteOutcome(resource, day, 'failed')
    }
  }

  async #kept(resource: string, known: readonly Interval[], error: unknown): Promise<void> {
    const refusedAt = this.#confirmation.plannedAt
    await this.#ledger.record(
      known.map((interval) => ({ ...afterFailure(withoutPending(interval), error), refusedAt })),
    )
    for (const { day, rowCount } of known) this.#finished(resource, day, 'unchanged', rowCount ?? 0)
    const [first, last] = [known[0], known.at(-1)]
    if (first === undefined || last === undefined) return
    const range = first === last ? first.day : `${first.day} to ${last.day}`
    warner(this.#world)(
      `${resource} ${range} of ${this.#ledger.orgId}: what has landed is kept, but the platform no longer serves it: ${messageOf(error)}`,
    )
  }

  /**
   * Records a resource that was never granted; the night does not count as failed. Only the last
   * such night is kept, because none of them can be made up for. Returns whether the reason is new.
   */
  async forbidden(resource: string, day: Day, error: unknown): Promise<boolean> {
    const known = this.#intervalsOf(resource)
    const refused = afterFailure(this.#knownOrNew(resource, day), error)
    await this.#ledger.record([refused])
    const earlier = known.filter((each) => each.day !== day)
    if (earlier.length > 0) await this.#ledger.forget(earlier)
    return known.every((each) => reasonIn(each) !== reasonIn(refused))
  }

  /** Forgets the failed days of a resource: a later day contains what they lacked. */
  async recovered(resource: string): Promise<void> {
    const failed = this.#intervalsOf(resource).filter(({ status }) => status === 'failed')
    if (failed.length > 0) await this.#ledger.forget(failed)
  }

  #intervalsOf(resource: string): Interval[] {
    return [...this.#ledger.intervals.values()].filter((interval) => interval.resource === resource)
  }

  #knownOrNew(resource: string, day: Day): Interval {
    return this.interval(resource, day) ?? { resource, day, ...NEVER_LANDED }
  }

  #intervalOfLanded(resource: string, landed: LandedDay): Interval {
    const { day, content, versions, file, sha256, witness = null } = landed
    const { digest, count, last } = content
    return {
      resource,
      day,
      status: count === 0 ? 'empty' : 'landed',
      fetchedAt: last.fetchedAt,
      rowCount: landed.rowCount ?? count,
      versions,
      attempts: this.#knownOrNew(resource, day).attempts + 1,
      requestId: last.requestId,
      file,
      sha256,
      digest,
      error: null,
      witness,
    }
  }

  #finished(resource: string, day: Day, outcome: IntervalOutcome, rows: number): void {
    const what = { orgId: this.#ledger.orgId, resource, day, outcome, rows }
    this.#world.emit({ type: 'interval.finished', ...what })
    this.#noteOutcome(resource, day, 'landed')
  }

  #noteOutcome(resource: string, day: Day, outcome: 'landed' | 'failed'): void {
    const key = intervalKey(resource, day)
    this.#outcomes.set(key, outcome)
    const missing = this.#missing.get(monthOf(day))
    if (missing?.delete(key) === true && missing.size === 0) this.#onMonthComplete(monthOf(day))
  }
}

/** Statuses meaning that the day is not served, whatever the credential or time. */
const REFUSALS = [400, 404, 410]

function afterFailure(known: Interval, error: unknown): Interval {
  return {
    ...known,
    attempts: known.attempts + 1,
    error: messageOf(error),
    requestId: requestIdOf(error) ?? known.requestId,
  }
}

/** Why the last attempt failed, without the id of the request. */
function reasonIn({ error, requestId }: Interval): string | undefined {
  return error?.replaceAll(requestId ?? '', '')
}

/** Drops the pending confirmation: the request that was to confirm it was refused. */
function withoutPending(interval: Interval): Interval {
  const copy = { ...interval }
  delete copy.suspect
  return copy
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

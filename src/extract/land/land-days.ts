import { versionPath } from '../../lake/layout.ts'
import { isSettled, type Interval } from '../../lake/ledger.ts'
import { readRows } from '../../lake/raw-days.ts'
import type { FetchContext } from '../context.ts'
import { fieldOf } from '../../client/index.ts'
import type { VolumeAnomaly } from './interval-recorder.ts'
import type { Resource } from '../../lake/resources.ts'
import { landVersions, type LandedDay, type ServedDay } from './raw-writer.ts'
import PQueue from 'p-queue'

/** A day to land, and how large it is (see `sizeOf`); default: the number of users or rows. */
export interface SizedDay extends ServedDay {
  readonly size?: number
}

/**
 * Lands served days as versions. If a settled day came back much smaller, its version stays, and
 * the new rows wait until they are served a second time.
 *
 * @returns the days to record, without those that wait: these are recorded already.
 */
export async function landDays<T extends SizedDay>(
  context: FetchContext,
  resource: Resource,
  served: readonly T[],
): Promise<(T & LandedDay)[]> {
  const { recorder } = context
  const believed: T[] = []
  const confirmed: VolumeAnomaly[] = []
  for (const each of served) {
    const anomaly = await anomalyOf(context, resource, each)
    if (anomaly !== null && !recorder.isConfirmed(anomaly)) await recorder.pending(anomaly)
    else {
      believed.push(each)
      if (anomaly !== null) confirmed.push(anomaly)
    }
  }
  const landed = await landVersions(context, resource.name, believed)
  for (const anomaly of confirmed) recorder.anomalyFound(anomaly, true)
  return landed
}

/**
 * The volume anomaly that needs confirmation; null if there is none. A changed settled day is one
 * if it became empty or less than half as large.
 */
async function anomalyOf(
  context: FetchContext,
  resource: Resource,
  { day, content, rowCount = content.count, size = rowCount }: SizedDay,
): Promise<VolumeAnomaly | null> {
  const known = context.recorder.interval(resource.name, day)
  if (known === undefined || !isSettled(known) || known.digest === content.digest) return null
  const sizeBefore = await landedSize(context, resource, known)
  const served = { digest: content.digest, rowCount, seenAt: content.last.fetchedAt }
  const isMuchSmaller = (rowCount === 0 && known.rowCount !== 0) || 2 * size < sizeBefore
  return isMuchSmaller ? { known, served, sizeBefore, size } : null
}

/** The sum of the size field in the lake, else the row count that the ledger has. */
async function landedSize(
  { dataFolder, orgId }: FetchContext,
  { name, sizeField }: Resource,
  { day, file, rowCount }: Interval,
): Promise<number> {
  const count = rowCount ?? 0
  if (sizeField === undefined || file === null) return count
  const rows = await readRows(versionPath(dataFolder, orgId, { resource: name, day, file }))
  const items = rows?.map(({ item }) => item)
  return items === undefined ? count : sizeOf(sizeField, items)
}

/** Sums a field over the rows of a day (JSON texts). Values that are not numbers count as 0. */
export function sizeOf(sizeField: string, items: readonly string[]): number {
  const values = items.map((item) => Number(fieldOf(JSON.parse(item), sizeField)))
  return values.reduce((sum, value) => sum + (Number.isFinite(value) ? value : 0), 0)
}

const AT_ONCE = 2
const MOST_WAITING = 32

/**
 * Processes items while the platform is asked for more. Items that arrive when both workers are
 * busy wait, and are then processed together. The next `add` and `ended` throw its errors.
 */
export class Background<T> {
  readonly #work: (items: readonly T[]) => Promise<void>
  readonly #queue = new PQueue({ concurrency: AT_ONCE })
  #waiting: T[] = []
  #failure: { readonly error: unknown } | undefined

  constructor(work: (items: readonly T[]) => Promise<void>) {
    this.#work = work
  }

  /** Queues an item; resolves when the next one may be added. @throws an error of earlier work. */
  async add(item: T): Promise<void> {
    this.#throwFailure()
    this.#waiting.push(item)
    if (this.#waiting.length === 1) void this.#queue.add(() => this.#processWaiting())
    if (this.#waiting.length >= MOST_WAITING) await this.#queue.onSizeLessThan(1)
  }

  /** Resolves when all work has ended. @throws an error of the work. */
  async ended(): Promise<void> {
    await this.#queue.onIdle()
    this.#throwFailure()
  }

  async #processWaiting(): Promise<void> {
    const items = this.#waiting
    this.#waiting = []
    if (this.#failure !== undefined) return
    await this.#work(items).catch((error: unknown) => {
      this.#failure ??= { error }
    })
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error
  }
}

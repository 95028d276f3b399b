import PQueue from 'p-queue'
import { HISTORY_START, monthOf } from '../lib/days.ts'
import { messageOf } from '../lib/errors.ts'
import type { RunEvent } from '../lib/events.ts'
import { warner } from '../lib/world.ts'
import { NO_ORGANISATION, type RawFile } from '../lake/layout.ts'
import { type Ledger } from '../lake/ledger.ts'
import { latestData, type PointInTime } from '../lake/point-in-time.ts'
import { damagedFiles } from '../extract/land/verify-versions.ts'
import type { SyncListeners } from '../extract/organisation.ts'
import type { NormalizeOptions } from '../normalize/base-plan.ts'
import { BaseEngine } from '../normalize/batch.ts'
import { normalize, openBase } from '../normalize/normalize.ts'
import type { BaseFiles } from '../normalize/state.ts'
import { type RunContext } from './run-context.ts'

/**
 * Writes base while requests are pending, so that little is left at the end: verifies base files by
 * CRC-32, and writes those of each month once all of its missing days have landed or failed.
 * Entities other than analytics, and days that a recheck changed, follow afterwards by the same plan.
 * With more organisations than are asked at once, all follow afterwards: then they share statements.
 */
export class EarlyBase implements SyncListeners, AsyncDisposable {
  readonly engine: BaseEngine
  readonly #context: RunContext
  readonly #pointInTime: PointInTime
  readonly #whileWaiting: () => void
  /** False: everything is written afterwards. */
  readonly #isEarly: boolean
  /** Undefined after an error: then the files must be read again. */
  readonly #bases = new Map<string, Promise<BaseFiles | undefined>>()
  /** Months whose missing days have all landed or failed, by organisation. */
  readonly #completeMonths = new Map<string, Set<string>>()
  /** Organisations that wait to be written; their complete months are counted until then. */
  readonly #waiting = new Set<string>()

  /** Bounds what databases take, however many organisations are asked at the same time. */
  readonly #queue = new PQueue({ concurrency: 1 })

  /** `organisations`: how many are requested in this run. */
  constructor(context: RunContext, organisations: number, whileWaiting: () => void) {
    this.#context = context
    this.#pointInTime = latestData(context.config.dataFolder)
    this.#whileWaiting = whileWaiting
    this.#isEarly = organisations <= context.config.organisationsAtOnce
    this.engine = new BaseEngine(context.config.dataFolder)
  }

  onFirstWait(orgId: string): void {
    this.#whileWaiting()
    if (!this.#isEarly) return
    this.#bases.set(orgId, this.#orWarn(orgId, this.#open(orgId)))
  }

  onMonthComplete(orgId: string, month: string, ledger: Ledger): void {
    if (!this.#isEarly) return
    this.#completeMonths.set(orgId, (this.#completeMonths.get(orgId) ?? new Set()).add(month))
    if (this.#waiting.has(orgId)) return
    this.#waiting.add(orgId)
    this.#bases.set(orgId, this.#orWarn(orgId, this.#write(orgId, ledger)))
  }

  /** Resolves when nothing is in progress any more; base cannot be made with it after that. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#bases.values())
    await this.#queue.onIdle() // also those that base() has handed over
    await this.engine[Symbol.asyncDispose]()
  }

  /** The base files of an organisation as they are now. The caller keeps them up to date from here on. */
  async base(orgId: string): Promise<BaseFiles> {
    const known = this.#bases.get(orgId)
    this.#bases.delete(orgId)
    return (await known) ?? this.#open(orgId)
  }

  async #open(orgId: string): Promise<BaseFiles> {
    return this.#queue.add(() => openBase(baseOptions(this.#context, this.#pointInTime, orgId)))
  }

  async #write(orgId: string, ledger: Ledger): Promise<BaseFiles> {
    const files = await this.base(orgId)
    await this.#queue.add(() => this.#writeNow(orgId, ledger, files))
    return files
  }

  /** Does nothing if a raw file is damaged: only the holder of the ledger may quarantine it. */
  async #writeNow(orgId: string, current: Ledger, base: BaseFiles): Promise<void> {
    this.#waiting.delete(orgId)
    const onlyMonths = new Set(this.#completeMonths.get(orgId))
    const { config, world } = this.#context
    if (world.signal.aborted) return
    const ledger = new Map(current) // as it is now: more lands while this works
    const findDamaged = async (raw: readonly RawFile[]): Promise<null | []> => {
      const damaged = await damagedFiles(config.dataFolder, orgId, raw, ledger)
      return damaged.length > 0 ? null : []
    }
    const options = baseOptions(this.#context, this.#pointInTime, orgId)
    await normalize(
      [{ options: { ...options, ledger, onlyMonths, findDamaged }, base }],
      this.engine,
    )
  }

  async #orWarn(orgId: string, base: Promise<BaseFiles>): Promise<BaseFiles | undefined> {
    try {
      return await base
    } catch (error) {
      const what = `the base of ${orgId} could not be written during the requests`
      warner(this.#context.world)(`${what}, and is written afterwards: ${messageOf(error)}`)
      return undefined
    }
  }
}

/** The options with which base of an organisation is written. */
export function baseOptions(
  { config, world }: RunContext,
  { baseIn, asOf }: PointInTime,
  orgId: string,
): Pick<NormalizeOptions, 'dataFolder' | 'baseIn' | 'orgId' | 'firstMonth' | 'emit' | 'signal'> {
  const { dataFolder } = config
  const emit = (event: RunEvent): void => {
    // not reported: warnings about data as of an earlier time, and files without rows
    const isNews = event.type === 'warning' ? asOf === null : orgId !== NO_ORGANISATION
    if (isNews) world.emit(event)
  }
  const firstMonth = orgId === NO_ORGANISATION ? { firstMonth: monthOf(HISTORY_START) } : {}
  return { dataFolder, baseIn, orgId, ...firstMonth, emit, signal: world.signal }
}

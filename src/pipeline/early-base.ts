import PQueue from 'p-queue'
import { messageOf } from '../lib/errors.ts'
import { damagedFiles } from '../extract/missing-files.ts'
import type { SyncListeners } from '../extract/organisation.ts'
import { warner, type RunContext } from './run-context.ts'
import { baseOptions, type BaseWork } from './normalize.ts'
import { BaseEngine } from '../normalize/engine.ts'
import { normalize, openBase } from '../normalize/normalize.ts'
import type { BaseFiles } from '../normalize/state.ts'
import type { Ledger } from '../lake/ledger.ts'
import type { RawFile } from '../lake/quarantine.ts'
import { latestData } from './point-in-time.ts'

/**
 * Writes base while requests are pending, so that little is left at the end: verifies base files by
 * CRC-32, and writes those of each month once all of its missing days have landed or failed.
 * Entities other than analytics, and days that a recheck changed, follow afterwards by the same plan.
 */
export class EarlyBase implements SyncListeners, BaseWork, AsyncDisposable {
  readonly engine: BaseEngine
  readonly #context: RunContext
  readonly #whileWaiting: () => void
  /** Undefined after an error: then the files must be read again. */
  readonly #bases = new Map<string, Promise<BaseFiles | undefined>>()
  /** Months without missing days, by organisation. */
  readonly #complete = new Map<string, Set<string>>()
  /** Organisations whose next pass has not begun. */
  readonly #due = new Set<string>()

  /** Bounds what databases take, however many organisations are asked at the same time. */
  readonly #queue = new PQueue({ concurrency: 1 })

  constructor(context: RunContext, whileWaiting: () => void) {
    this.#context = context
    this.#whileWaiting = whileWaiting
    this.engine = new BaseEngine(context.config.dataFolder)
  }

  onFirstWait(orgId: string): void {
    this.#whileWaiting()
    this.#bases.set(orgId, this.#tried(orgId, this.#open(orgId)))
  }

  onMonthComplete(orgId: string, month: string, ledger: Ledger): void {
    this.#complete.set(orgId, (this.#complete.get(orgId) ?? new Set()).add(month))
    if (this.#due.has(orgId)) return
    this.#due.add(orgId)
    this.#bases.set(orgId, this.#tried(orgId, this.#write(orgId, ledger)))
  }

  /** Resolves when nothing is under way any more; base cannot be made with it after that. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#bases.values())
    await this.#queue.onIdle() // also those that base() has handed over
    await this.engine[Symbol.asyncDispose]()
  }

  /** The base files of an organisation as they are now. The caller owns them: no copy is kept. */
  readonly base = async (orgId: string): Promise<BaseFiles> => {
    const known = this.#bases.get(orgId)
    this.#bases.delete(orgId)
    return (await known) ?? this.#open(orgId)
  }

  async #open(orgId: string): Promise<BaseFiles> {
    const pointInTime = latestData(this.#context.config.dataFolder)
    return this.#queue.add(() => openBase(baseOptions(this.#context, pointInTime, orgId)))
  }

  async #write(orgId: string, known: Ledger): Promise<BaseFiles> {
    const files = await this.base(orgId)
    return this.#queue.add(() => this.#writeNow(orgId, known, files))
  }

  /** Does nothing if a raw file is damaged: only the holder of the ledger may quarantine it. */
  async #writeNow(orgId: string, known: Ledger, files: BaseFiles): Promise<BaseFiles> {
    this.#due.delete(orgId)
    const only = new Set(this.#complete.get(orgId))
    const { config, world } = this.#context
    if (world.signal.aborted) return files
    const pointInTime = latestData(config.dataFolder)
    const ledger = new Map(known) // as it is now: more lands while this works
    const quarantineDamaged = async (raw: readonly RawFile[]): Promise<null | []> => {
      const damaged = await damagedFiles(config.dataFolder, orgId, raw, ledger)
      return damaged.length > 0 ? null : []
    }
    const options = baseOptions(this.#context, pointInTime, orgId)
    await normalize(
      { ...options, ledger, only, quarantineDamaged, signal: world.signal },
      this.engine,
      files,
    )
    return files
  }

  async #tried(orgId: string, base: Promise<BaseFiles>): Promise<BaseFiles | undefined> {
    try {
      return await base
    } catch (error) {
      const what = `the base of ${orgId} could not be written during the requests`
      warner(this.#context)(`${what}, and is written afterwards: ${messageOf(error)}`)
      return undefined
    }
  }
}

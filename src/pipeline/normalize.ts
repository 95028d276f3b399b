import { warner } from '../lib/world.ts'
import { rm } from 'node:fs/promises'
import { HISTORY_START, monthOf } from '../lib/days.ts'
import type { RunEvent } from '../lib/events.ts'
import { quarantineDamaged, damagedFiles } from '../extract/land/verify-versions.ts'
import { timed, type RunContext, readProject } from './run-context.ts'
import type { Project } from '../model/project/types.ts'
import { mapLimit } from '../lib/concurrency.ts'
import { BaseEngine } from '../normalize/batch.ts'
import { normalize, openBase, type BaseOf } from '../normalize/normalize.ts'
import type { NormalizeOptions } from '../normalize/base-plan.ts'
import type { BaseFiles } from '../normalize/state.ts'
import { NO_ORGANISATION, type RawFile } from '../lake/layout.ts'
import { knownOrganisations, type Ledger } from '../lake/ledger.ts'
import { spillFolder } from '../lib/spill.ts'
import { latestData, type PointInTime } from '../lake/point-in-time.ts'
import PQueue from 'p-queue'
import { inChunks } from '../lib/grouped.ts'
import { AppError, messageOf } from '../lib/errors.ts'
import type { SyncListeners } from '../extract/organisation.ts'

/** The input of the models. */
export interface BaseAndProject {
  /** Days that are missing because of damaged files. */
  readonly missing: number
  readonly project: Project
}

/** Makes base and reads the project concurrently: one uses DuckDB, the other this thread. */
export async function normalizeAndRead(
  context: RunContext,
  pointInTime: PointInTime = latestData(context.config.dataFolder),
): Promise<BaseAndProject> {
  const reading = readProject(context)
  await using engine = new BaseEngine(context.config.dataFolder)
  const missing = await normalizeAll(context, pointInTime, { engine })
  return { missing, project: await reading }
}

/** The options and caches with which base is made. */
interface BaseWork {
  readonly engine: BaseEngine
  /** The base files of an organisation that are there. Absent: they are read. */
  readonly base?: (orgId: string) => Promise<BaseFiles>
}

/**
 * Raw → base, every organisation: the next one begins while statements of others run. After a
 * signal, nothing more is begun. Returns how many days are missing because of damaged files.
 */
export async function normalizeAll(
  context: RunContext,
  pointInTime: PointInTime,
  { engine, base }: BaseWork,
): Promise<number> {
  const { config } = context
  let missing = 0
  await timed(context, 'normalize', async () => {
    const organisation = async (orgId: string): Promise<BaseOf> => {
      const options = baseOptions(context, pointInTime, orgId)
      const ledger = await pointInTime.ledgerOf(orgId)
      const findDamaged = async (files: readonly RawFile[]): Promise<readonly RawFile[]> => {
        if (pointInTime.asOf !== null) return refuseDamaged(config.dataFolder, orgId, files, ledger)
        const warn = warner(context.world, 'damage')
        const damaged = await quarantineDamaged(config.dataFolder, orgId, files, ledger, warn)
        missing += damaged.length
        return damaged
      }
      const all = { ...options, ledger, findDamaged }
      return { options: all, base: await base?.(orgId) }
    }
    const orgIds = [NO_ORGANISATION, ...(await knownOrganisations(config.dataFolder))]
    await mapLimit(inChunks(orgIds, ORGANISATIONS_TOGETHER), CHUNKS_AT_ONCE, async (some) => {
      if (context.world.signal.aborted) return
      await normalize(await mapLimit(some, 1, organisation), engine)
    })
    await rm(spillFolder(config.dataFolder), { recursive: true, force: true })
  })
  return missing
}

/** Finds no damage. @throws AppError for a damaged file: a build of the past leaves out no day. */
async function refuseDamaged(
  dataFolder: string,
  orgId: string,
  files: readonly RawFile[],
  ledger: Ledger,
): Promise<readonly RawFile[]> {
  const [damaged] = await damagedFiles(dataFolder, orgId, files, ledger)
  if (damaged === undefined) return []
  const { resource, day, file, reason } = damaged
  throw new AppError(
    `the past cannot be built: ${resource} ${day} of ${orgId}: ${file}: ${reason}`,
    { hint: 'agent-warehouse rebuild moves damaged files to quarantine; then build again.' },
  )
}

/** Enough small organisations for a statement; their state is in memory. */
const ORGANISATIONS_TOGETHER = 16

/** One is planned while statements of another run. */
const CHUNKS_AT_ONCE = 2

/** The options with which base of an organisation is written. */
function baseOptions(
  { config, world }: RunContext,
  { baseIn, asOf }: PointInTime,
  orgId: string,
): Pick<NormalizeOptions, 'dataFolder' | 'baseIn' | 'orgId' | 'firstMonth' | 'emit' | 'signal'> {
  const { dataFolder } = config
  const emit = (event: RunEvent): void => {
    // not reported: warnings about data of the past, and files without rows
    const isNews = event.type === 'warning' ? asOf === null : orgId !== NO_ORGANISATION
    if (isNews) world.emit(event)
  }
  const firstMonth = orgId === NO_ORGANISATION ? { firstMonth: monthOf(HISTORY_START) } : {}
  return { dataFolder, baseIn, orgId, ...firstMonth, emit, signal: world.signal }
}

/**
 * Writes base while requests are pending, so that little is left at the end: verifies base files by
 * CRC-32, and writes those of each month once all of its missing days have landed or failed.
 * Entities other than analytics, and days that a recheck changed, follow afterwards by the same plan.
 * With more organisations than are asked at once, all follow afterwards: then they share statements.
 */
export class EarlyBase implements SyncListeners, BaseWork, AsyncDisposable {
  readonly engine: BaseEngine
  readonly #context: RunContext
  readonly #whileWaiting: () => void
  readonly #isLater: boolean
  /** Undefined after an error: then the files must be read again. */
  readonly #bases = new Map<string, Promise<BaseFiles | undefined>>()
  /** Months without missing days, by organisation. */
  readonly #complete = new Map<string, Set<string>>()
  /** Organisations whose next pass has not begun. */
  readonly #due = new Set<string>()

  /** Bounds what databases take, however many organisations are asked at the same time. */
  readonly #queue = new PQueue({ concurrency: 1 })

  /** `organisations`: how many are requested in this run. */
  constructor(context: RunContext, organisations: number, whileWaiting: () => void) {
    this.#context = context
    this.#whileWaiting = whileWaiting
    this.#isLater = organisations > context.config.organisationsAtOnce
    this.engine = new BaseEngine(context.config.dataFolder)
  }

  onFirstWait(orgId: string): void {
    this.#whileWaiting()
    if (this.#isLater) return
    this.#bases.set(orgId, this.#tried(orgId, this.#open(orgId)))
  }

  onMonthComplete(orgId: string, month: string, ledger: Ledger): void {
    if (this.#isLater) return
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
    await this.#queue.add(() => this.#writeNow(orgId, known, files))
    return files
  }

  /** Does nothing if a raw file is damaged: only the holder of the ledger may quarantine it. */
  async #writeNow(orgId: string, known: Ledger, base: BaseFiles): Promise<void> {
    this.#due.delete(orgId)
    const only = new Set(this.#complete.get(orgId))
    const { config, world } = this.#context
    if (world.signal.aborted) return
    const pointInTime = latestData(config.dataFolder)
    const ledger = new Map(known) // as it is now: more lands while this works
    const findDamaged = async (raw: readonly RawFile[]): Promise<null | []> => {
      const damaged = await damagedFiles(config.dataFolder, orgId, raw, ledger)
      return damaged.length > 0 ? null : []
    }
    const options = baseOptions(this.#context, pointInTime, orgId)
    await normalize([{ options: { ...options, ledger, only, findDamaged }, base }], this.engine)
  }

  async #tried(orgId: string, base: Promise<BaseFiles>): Promise<BaseFiles | undefined> {
    try {
      return await base
    } catch (error) {
      const what = `the base of ${orgId} could not be written during the requests`
      warner(this.#context.world)(`${what}, and is written afterwards: ${messageOf(error)}`)
      return undefined
    }
  }
}

import { entitySelection, landHooks, type SyncSelection } from './entity-resources.ts'
import { ApiClient, TransportError } from '../client/index.ts'
import type { OrganisationConfig } from '../config/config.ts'
import { asError, ExitCode, messageOf, PartialError, type AppError } from '../lib/errors.ts'
import { syncOrganisation, type SyncListeners, type SyncResult } from '../extract/organisation.ts'
import { downgradeToPartial, timed, type RunContext, openLedgers } from './run-context.ts'
import { normalizeAll } from './normalize.ts'
import { learnedLimits } from '../lake/state-file.ts'
import { latestData } from './point-in-time.ts'
import { setFlagsFromString } from 'node:v8'

export interface SyncOutcome {
  readonly results: readonly SyncResult[]
  readonly exitCode: ExitCode
  /** False when no organisation could be reached: then there is nothing new to build. */
  readonly isAnyReached: boolean
  /** One error for each organisation that did not finish. */
  readonly problems: readonly Error[]
}

/** Source → raw → base, every organisation in turn. One that fails does not stop the others. */
export async function sync(context: RunContext, selection: SyncSelection): Promise<SyncOutcome> {
  return inLowMemoryMode(async () => {
    const landed = await land(context, selection)
    if (!landed.isAnyReached || isStopped(context)) return landed
    return downgradeToPartial(
      await normalizeAll(context, latestData(context.config.dataFolder)),
      landed,
    )
  })
}

/** Source → raw. */
export async function land(
  context: RunContext,
  selection: SyncSelection,
  listeners: SyncListeners = {},
): Promise<SyncOutcome> {
  const organisations = context.config.organisations()
  const results: SyncResult[] = []
  const syncAll = async (): Promise<void> => {
    for (const organisation of organisations)
      results.push(await syncOne(context, organisation, selection, listeners))
    await openLedgers(
      context,
      results.map(({ orgId }) => orgId),
    )
    if (selection.days === undefined) await landHooks(context)
  }
  await timed(context, 'sync', syncAll)
  const outcome = outcomeOf(results)
  return context.world.signal.aborted ? stopped(outcome, context.world.signal.reason) : outcome
}

export function isStopped({ world }: RunContext): boolean {
  return world.signal.aborted
}

/** A signal after the last request skips only the build; that is a deferral too. */
function stopped(outcome: SyncOutcome, reason: unknown): SyncOutcome {
  if (outcome.results.some(({ stoppedBy }) => stoppedBy !== null)) return outcome
  const problems = [...outcome.problems, asError(reason)]
  return { ...outcome, exitCode: ExitCode.deferred, problems }
}

async function syncOne(
  context: RunContext,
  organisation: OrganisationConfig,
  selection: SyncSelection,
  listeners: SyncListeners,
): Promise<SyncResult> {
  const { config, world, runId } = context
  return withClient(context, organisation, (client) =>
    syncOrganisation({
      client,
      world,
      dataFolder: config.dataFolder,
      organisation: organisation.name,
      runId,
      concurrency: config.concurrency,
      plan: selection,
      entities: entitySelection(context, organisation, selection),
      listeners,
    }),
  )
}

/** Runs `work` with a client that uses the learned limits, and saves what this run learns. */
async function withClient<T>(
  { config, world, deadline }: RunContext,
  { name, baseUrl, appUrl, key }: OrganisationConfig,
  work: (client: ApiClient) => Promise<T>,
): Promise<T> {
  const { dataFolder, rate, concurrency } = config
  const learned = await learnedLimits.read(dataFolder, name)
  const addresses = appUrl === null ? { baseUrl } : { baseUrl, appUrl }
  const options = { ...addresses, credential: key, rate, concurrency, deadline }
  const client = new ApiClient(learned === undefined ? options : { ...options, learned }, world)
  try {
    return await work(client)
  } finally {
    await learnedLimits.write(dataFolder, name, client.learned()).catch((error: unknown) => {
      const message = `the learned limits could not be saved: ${messageOf(error)}`
      world.emit({ type: 'warning', message })
    })
  }
}

function outcomeOf(results: readonly SyncResult[]): SyncOutcome {
  const stops = results.flatMap(({ stoppedBy }) => (stoppedBy === null ? [] : [stoppedBy]))
  const unreachable = results.flatMap((result) =>
    result.unreachable === null ? [] : [result.unreachable],
  )
  const isAnyReached = results.some(
    ({ isReached, landed, failed, stoppedBy }) =>
      landed > 0 || (isReached && failed === 0 && stoppedBy === null),
  )
  const missing = results.reduce((sum, result) => sum + result.missing, 0)
  return downgradeToPartial(missing, {
    results,
    isAnyReached,
    exitCode: exitCodeOf(results, stops),
    problems: [...stops, ...unreachable.map((error) => unreachableError(error))],
  })
}

/** The most telling exit code: a refused key before a deferral before failed days. */
function exitCodeOf(results: readonly SyncResult[], stops: readonly AppError[]): ExitCode {
  const order = [ExitCode.credential, ExitCode.usage, ExitCode.deferred]
  const first = order.find((code) => stops.some((stop) => stop.exitCode === code))
  if (first !== undefined) return first
  const isShort = results.some(({ failed, unreachable }) => failed > 0 || unreachable !== null)
  return isShort ? ExitCode.partial : ExitCode.complete
}

function unreachableError(error: Error): PartialError {
  const what =
    error instanceof TransportError ? 'could not be reached' : 'gave an unexpected answer'
  return new PartialError(`the platform ${what}: ${error.message}`, {
    hint: 'Nothing new was published; the next run asks again.',
    cause: error,
  })
}

/**
 * Runs `work` with a heap that stays near the live data. Garbage would otherwise be most of the
 * memory of a sync, and more for a longer history. Where a database takes far more memory
 * anyway, this would only cost time.
 */
async function inLowMemoryMode<T>(work: () => Promise<T>): Promise<T> {
  setFlagsFromString('--optimize-for-size')
  try {
    return await work()
  } finally {
    setFlagsFromString('--no-optimize-for-size')
  }
}

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Prefetch } from './prefetch.ts'
import { entitySelection, landHooks, type SyncSelection } from './entity-resources.ts'
import { PlatformClient, TransportError } from '../client/index.ts'
import type { OrganisationConfig } from '../config/config.ts'
import {
  asError,
  ExitCode,
  messageOf,
  PartialError,
  UsageError,
  type AppError,
} from '../lib/errors.ts'
import { openLedger } from '../extract/open-ledger.ts'
import { rebuildLedger } from '../extract/rebuild.ts'
import { syncOrganisation, type SyncListeners, type SyncResult } from '../extract/sync.ts'
import { inLowMemoryMode } from './low-memory.ts'
import {
  downgradeToPartial,
  timed,
  warner,
  type BuildOutcome,
  type RunContext,
} from './run-context.ts'
import type { Copy } from '../model/index.ts'
import { normalizeAll, normalizeAndRead, type Ready } from './normalize.ts'
import type { BaseFiles } from '../normalize/state.ts'
import {
  copyOfPublished,
  exportMarts,
  publishModels,
  type BuildChoice,
  type RunsSoFar,
} from './publish.ts'
import { refusePast, rollBack } from '../serve/rollback.ts'
import { readLearned, writeLearned } from '../lake/governor-state.ts'
import { organisationsInLake } from '../lake/layout.ts'
import { knownOrganisations, LedgerFile } from '../lake/ledger.ts'
import { dataAsOf, latestData } from './point-in-time.ts'

export interface SyncOutcome {
  readonly results: readonly SyncResult[]
  readonly exitCode: ExitCode
  /** False when no organisation could be reached: then there is nothing new to build. */
  readonly isAnyReached: boolean
  /** One error for each organisation that did not finish. */
  readonly problems: readonly Error[]
}

/** The nightly job: land what is due, build, check, publish, export. */
export async function run(
  context: RunContext,
  selection: SyncSelection,
  runs: RunsSoFar,
): Promise<SyncOutcome> {
  const prefetch = new Prefetch(context)
  await using copy = copyOfPublished(context)
  const outcome = await landAndNormalize(context, selection, prefetch, copy).finally(() =>
    prefetch.ended(),
  )
  if (!outcome.isAnyReached || isStopped(context)) return outcome
  const orgIds = await knownOrganisations(context.config.dataFolder)
  if (!(await hasLanded(context.config.dataFolder, orgIds))) return outcome
  const project = await prefetch.project()
  await publishModels(context, project, orgIds, { runs, exitCode: outcome.exitCode, copy })
  for (const target of context.config.exports) await exportMarts(context, target)
  return outcome
}

async function landAndNormalize(
  context: RunContext,
  selection: SyncSelection,
  prefetch: Prefetch,
  copy: Copy,
): Promise<SyncOutcome> {
  const landed = await land(context, selection, prefetch)
  if (!landed.isAnyReached || isStopped(context)) return landed
  copy.begin() // little else is written or read until the build
  const openBase = (orgId: string): Promise<BaseFiles> => prefetch.base(orgId)
  const pointInTime = latestData(context.config.dataFolder)
  return downgradeToPartial(
    await normalizeAll(context, pointInTime, { isLowMemory: false, openBase }),
    landed,
  )
}

/** Source → raw → base, every organisation in turn. One that fails does not stop the others. */
export async function sync(context: RunContext, selection: SyncSelection): Promise<SyncOutcome> {
  return inLowMemoryMode(async () => {
    const landed = await land(context, selection)
    if (!landed.isAnyReached || isStopped(context)) return landed
    return downgradeToPartial(
      await normalizeAll(context, latestData(context.config.dataFolder), { isLowMemory: true }),
      landed,
    )
  })
}

/** Source → raw. */
async function land(
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

/** Holds the ledgers of all organisations but these against the lake: of those whose ledger is lost too. */
async function openLedgers(
  context: RunContext,
  opened: readonly (string | null)[] = [],
): Promise<void> {
  const { dataFolder } = context.config
  const all = union(await organisationsInLake(dataFolder), await knownOrganisations(dataFolder))
  for (const orgId of all)
    if (!opened.includes(orgId)) await openLedger(dataFolder, orgId, warner(context))
}

function isStopped({ world }: RunContext): boolean {
  return world.signal.aborted
}

/** A signal after the last request left nothing out but the build: that is a deferral too. */
function stopped(outcome: SyncOutcome, reason: unknown): SyncOutcome {
  if (outcome.results.some(({ stoppedBy }) => stoppedBy !== null)) return outcome
  const problems = [...outcome.problems, asError(reason)]
  return { ...outcome, exitCode: ExitCode.deferred, problems }
}

/** Base → models → published warehouse. Needs no network. */
export async function build(context: RunContext, options: BuildChoice): Promise<BuildOutcome> {
  const { dataFolder } = context.config
  await openLedgers(context)
  if (options.asOf === undefined) await landHooks(context)
  const orgIds = requireSome(context, await knownOrganisations(dataFolder))
  if (options.select !== undefined) await refusePast(dataFolder, '--select')
  if (options.exclude !== undefined) await refusePast(dataFolder, '--exclude')
  if (options.asOf !== undefined) return buildPast(context, orgIds, options, options.asOf)
  return publishWhatIsLeft(context, orgIds, options, await normalizeAndRead(context))
}

/** Raw → ledger, base, models → published warehouse, all from scratch. Needs no network. */
export async function rebuild(context: RunContext, options: BuildChoice): Promise<BuildOutcome> {
  const { dataFolder } = context.config
  const inLake = await organisationsInLake(dataFolder)
  const orgIds = requireSome(context, union(inLake, await knownOrganisations(dataFolder)))
  let missing = 0
  await timed(context, 'ledger', async () => {
    for (const orgId of orgIds)
      missing += await rebuildLedger(dataFolder, orgId, warner(context, 'damage'))
  })
  for (const made of [join('lake', 'base'), join('state', 'base')])
    await rm(join(dataFolder, made), { recursive: true, force: true })
  const ready = await normalizeAndRead(context)
  const all = { ...ready, lost: missing + ready.missing }
  return publishWhatIsLeft(context, orgIds, { ...options, fullRefresh: true }, all)
}

async function publishWhatIsLeft(
  context: RunContext,
  orgIds: readonly string[],
  options: BuildChoice,
  { missing: missing, project }: Ready,
): Promise<BuildOutcome> {
  const outcome = downgradeToPartial(missing, { exitCode: ExitCode.complete, problems: [] })
  if (!(await hasLanded(context.config.dataFolder, orgIds))) {
    if (missing > 0) return outcome
    throw nothingToBuild(context)
  }
  await publishModels(context, project, orgIds, { ...options, exitCode: outcome.exitCode })
  return outcome
}

function union(a: readonly string[], b: readonly string[]): readonly string[] {
  return [...new Set([...a, ...b])].sort()
}

/** @throws UsageError when there is no organisation. */
function requireSome(context: RunContext, orgIds: readonly string[]): readonly string[] {
  if (orgIds.length > 0) return orgIds
  throw nothingToBuild(context)
}

function nothingToBuild({ config: { dataFolder } }: RunContext): UsageError {
  return new UsageError(`there is nothing to build: no day has landed in ${dataFolder}`, {
    hint: 'Land something first: agent-warehouse run (or: agent-warehouse demo).',
  })
}

/** Whether any day has landed, with rows or without: base and models are made of nothing else. */
async function hasLanded(dataFolder: string, orgIds: readonly string[]): Promise<boolean> {
  for (const orgId of orgIds) {
    const ledger = await LedgerFile.read(dataFolder, orgId)
    if ([...ledger.values()].some(({ file }) => file !== null)) return true
  }
  return false
}

/** @throws UsageError when nothing had landed at that time. */
async function buildPast(
  context: RunContext,
  orgIds: readonly string[],
  options: BuildChoice,
  asOf: number,
): Promise<BuildOutcome> {
  const pointInTime = await dataAsOf(context.config.dataFolder, orgIds, asOf)
  await rm(pointInTime.baseIn, { recursive: true, force: true })
  const { project } = await normalizeAndRead(context, pointInTime)
  await publishModels(context, project, orgIds, options, pointInTime)
  const when = new Date(asOf).toISOString()
  context.world.emit({
    type: 'warning',
    message: `the warehouse is published as it was known at ${when}; the next ordinary build returns to the latest data`,
  })
  return { exitCode: ExitCode.complete, problems: [] }
}

/** Publishes a file that was published before: the one of the run `to`, or the one before. */
export async function rollback(context: RunContext, to: string | undefined): Promise<BuildOutcome> {
  const { config, world, runId } = context
  const { dataFolder } = config
  const options = { dataFolder, runId, now: world.now }
  const done = await rollBack(to === undefined ? options : { ...options, to })
  world.emit({ type: 'warehouse.rolled_back', from: done.from, to: done.to })
  const message = 'the next ordinary build returns to the latest data; exports are unchanged'
  world.emit({ type: 'warning', message })
  return { exitCode: ExitCode.complete, problems: [] }
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
      listeners: listeners,
    }),
  )
}

/** Works with a client that knows the limits that earlier runs learned, and keeps what this one learns. */
async function withClient<T>(
  { config, world, deadline }: RunContext,
  { name, baseUrl, appUrl, key }: OrganisationConfig,
  work: (client: PlatformClient) => Promise<T>,
): Promise<T> {
  const { dataFolder, rate, concurrency } = config
  const learned = await readLearned(dataFolder, name)
  const addresses = appUrl === null ? { baseUrl } : { baseUrl, appUrl }
  const options = { ...addresses, credential: key, rate, concurrency, deadline }
  const client = new PlatformClient(
    learned === undefined ? options : { ...options, learned: learned },
    world,
  )
  try {
    return await work(client)
  } finally {
    await writeLearned(dataFolder, name, client.learned()).catch((error: unknown) => {
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
    error instanceof TransportError ? 'could not be reached' : 'did not answer as it should'
  return new PartialError(`the platform ${what}: ${error.message}`, {
    hint: 'Nothing new was published; the next run asks again.',
    cause: error,
  })
}

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Ahead } from './prefetch.ts'
import { besideOf, landHooks, type SyncSelection } from './entity-resources.ts'
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
import { withTightHeap } from './low-memory.ts'
import { afterLosing, timed, warner, type BuildOutcome, type Job } from './run-context.ts'
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
import { readLearnt, writeLearnt } from '../lake/governor-state.ts'
import { organisationsInLake } from '../lake/layout.ts'
import { knownOrganisations, LedgerFile } from '../lake/ledger.ts'
import { past, present } from './point-in-time.ts'

export interface SyncOutcome {
  readonly results: readonly SyncResult[]
  readonly exitCode: ExitCode
  /** False when no organisation could be reached: then there is nothing new to build. */
  readonly isAnyReached: boolean
  /** What is to be said of it, an error an organisation that did not come to its end. */
  readonly problems: readonly Error[]
}

/** The nightly job: land what is due, build, check, publish, export. */
export async function run(
  job: Job,
  selection: SyncSelection,
  runs: RunsSoFar,
): Promise<SyncOutcome> {
  const ahead = new Ahead(job)
  await using copy = copyOfPublished(job)
  const outcome = await landAndNormalize(job, selection, ahead, copy).finally(() => ahead.ended())
  if (!outcome.isAnyReached || isStopped(job)) return outcome
  const orgIds = await knownOrganisations(job.config.dataFolder)
  if (!(await hasLanded(job.config.dataFolder, orgIds))) return outcome
  const project = await ahead.project()
  await publishModels(job, project, orgIds, { runs, exitCode: outcome.exitCode, copy })
  for (const target of job.config.exports) await exportMarts(job, target)
  return outcome
}

async function landAndNormalize(
  job: Job,
  selection: SyncSelection,
  ahead: Ahead,
  copy: Copy,
): Promise<SyncOutcome> {
  const landed = await land(job, selection, ahead)
  if (!landed.isAnyReached || isStopped(job)) return landed
  copy.begin() // little else is written or read until the build
  const openBase = (orgId: string): Promise<BaseFiles> => ahead.base(orgId)
  const view = present(job.config.dataFolder)
  return afterLosing(await normalizeAll(job, view, { isFrugal: false, openBase }), landed)
}

/** Source → raw → base, every organisation in turn. One that fails does not stop the others. */
export async function sync(job: Job, selection: SyncSelection): Promise<SyncOutcome> {
  return withTightHeap(async () => {
    const landed = await land(job, selection)
    if (!landed.isAnyReached || isStopped(job)) return landed
    return afterLosing(
      await normalizeAll(job, present(job.config.dataFolder), { isFrugal: true }),
      landed,
    )
  })
}

/** Source → raw. */
async function land(
  job: Job,
  selection: SyncSelection,
  meanwhile: SyncListeners = {},
): Promise<SyncOutcome> {
  const organisations = job.config.organisations()
  const results: SyncResult[] = []
  const syncAll = async (): Promise<void> => {
    for (const organisation of organisations)
      results.push(await syncOne(job, organisation, selection, meanwhile))
    await openLedgers(
      job,
      results.map(({ orgId }) => orgId),
    )
    if (selection.days === undefined) await landHooks(job)
  }
  await timed(job, 'sync', syncAll)
  const outcome = outcomeOf(results)
  return job.world.signal.aborted ? stopped(outcome, job.world.signal.reason) : outcome
}

/** Holds the ledgers of all organisations but these against the lake: of those whose ledger is lost too. */
async function openLedgers(job: Job, opened: readonly (string | null)[] = []): Promise<void> {
  const { dataFolder } = job.config
  const all = union(await organisationsInLake(dataFolder), await knownOrganisations(dataFolder))
  for (const orgId of all)
    if (!opened.includes(orgId)) await openLedger(dataFolder, orgId, warner(job))
}

function isStopped({ world }: Job): boolean {
  return world.signal.aborted
}

/** A signal after the last request left nothing out but the build: that is a deferral too. */
function stopped(outcome: SyncOutcome, reason: unknown): SyncOutcome {
  if (outcome.results.some(({ stoppedBy }) => stoppedBy !== null)) return outcome
  const problems = [...outcome.problems, asError(reason)]
  return { ...outcome, exitCode: ExitCode.deferred, problems }
}

/** Base → models → published warehouse. Needs no network. */
export async function build(job: Job, options: BuildChoice): Promise<BuildOutcome> {
  const { dataFolder } = job.config
  await openLedgers(job)
  if (options.asOf === undefined) await landHooks(job)
  const orgIds = requireSome(job, await knownOrganisations(dataFolder))
  if (options.select !== undefined) await refusePast(dataFolder, '--select')
  if (options.exclude !== undefined) await refusePast(dataFolder, '--exclude')
  if (options.asOf !== undefined) return buildPast(job, orgIds, options, options.asOf)
  return publishWhatIsLeft(job, orgIds, options, await normalizeAndRead(job))
}

/** Raw → ledger, base, models → published warehouse, all made anew. Needs no network. */
export async function rebuild(job: Job, options: BuildChoice): Promise<BuildOutcome> {
  const { dataFolder } = job.config
  const inLake = await organisationsInLake(dataFolder)
  const orgIds = requireSome(job, union(inLake, await knownOrganisations(dataFolder)))
  let lost = 0
  await timed(job, 'ledger', async () => {
    for (const orgId of orgIds)
      lost += await rebuildLedger(dataFolder, orgId, warner(job, 'damage'))
  })
  for (const made of [join('lake', 'base'), join('state', 'base')])
    await rm(join(dataFolder, made), { recursive: true, force: true })
  const ready = await normalizeAndRead(job)
  const all = { ...ready, lost: lost + ready.lost }
  return publishWhatIsLeft(job, orgIds, { ...options, fullRefresh: true }, all)
}

async function publishWhatIsLeft(
  job: Job,
  orgIds: readonly string[],
  options: BuildChoice,
  { lost, project }: Ready,
): Promise<BuildOutcome> {
  const outcome = afterLosing(lost, { exitCode: ExitCode.complete, problems: [] })
  if (!(await hasLanded(job.config.dataFolder, orgIds))) {
    if (lost > 0) return outcome
    throw nothingToBuild(job)
  }
  await publishModels(job, project, orgIds, { ...options, exitCode: outcome.exitCode })
  return outcome
}

function union(a: readonly string[], b: readonly string[]): readonly string[] {
  return [...new Set([...a, ...b])].sort()
}

/** @throws UsageError when there is no organisation. */
function requireSome(job: Job, orgIds: readonly string[]): readonly string[] {
  if (orgIds.length > 0) return orgIds
  throw nothingToBuild(job)
}

function nothingToBuild({ config: { dataFolder } }: Job): UsageError {
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

/** @throws UsageError when nothing had landed at the moment. */
async function buildPast(
  job: Job,
  orgIds: readonly string[],
  options: BuildChoice,
  asOf: number,
): Promise<BuildOutcome> {
  const view = await past(job.config.dataFolder, orgIds, asOf)
  await rm(view.baseIn, { recursive: true, force: true })
  const { project } = await normalizeAndRead(job, view)
  await publishModels(job, project, orgIds, options, view)
  const when = new Date(asOf).toISOString()
  job.world.emit({
    type: 'warning',
    message: `the warehouse is published as it was known at ${when}; the next ordinary build brings the present back`,
  })
  return { exitCode: ExitCode.complete, problems: [] }
}

/** Publishes a file that was published before: the one of the run `to`, or the one before. */
export async function rollback(job: Job, to: string | undefined): Promise<BuildOutcome> {
  const { config, world, runId } = job
  const { dataFolder } = config
  const options = { dataFolder, runId, now: world.now }
  const done = await rollBack(to === undefined ? options : { ...options, to })
  world.emit({ type: 'warehouse.rolled_back', from: done.from, to: done.to })
  const message = 'the next ordinary build brings the present back; exports are as they were made'
  world.emit({ type: 'warning', message })
  return { exitCode: ExitCode.complete, problems: [] }
}

async function syncOne(
  job: Job,
  organisation: OrganisationConfig,
  selection: SyncSelection,
  meanwhile: SyncListeners,
): Promise<SyncResult> {
  const { config, world, runId } = job
  return withClient(job, organisation, (client) =>
    syncOrganisation({
      client,
      world,
      dataFolder: config.dataFolder,
      organisation: organisation.name,
      runId,
      concurrency: config.concurrency,
      plan: selection,
      beside: besideOf(job, organisation, selection),
      listeners: meanwhile,
    }),
  )
}

/** Works with a client that knows what earlier runs learnt of the limits, and keeps what this one learns. */
async function withClient<T>(
  { config, world, deadline }: Job,
  { name, baseUrl, appUrl, key }: OrganisationConfig,
  work: (client: PlatformClient) => Promise<T>,
): Promise<T> {
  const { dataFolder, rate, concurrency } = config
  const learnt = await readLearnt(dataFolder, name)
  const addresses = appUrl === null ? { baseUrl } : { baseUrl, appUrl }
  const options = { ...addresses, credential: key, rate, concurrency, deadline }
  const client = new PlatformClient(learnt === undefined ? options : { ...options, learnt }, world)
  try {
    return await work(client)
  } finally {
    await writeLearnt(dataFolder, name, client.learnt()).catch((error: unknown) => {
      const message = `what was learnt of the limits could not be kept: ${messageOf(error)}`
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
  const lost = results.reduce((sum, result) => sum + result.missing, 0)
  return afterLosing(lost, {
    results,
    isAnyReached,
    exitCode: exitCodeOf(results, stops),
    problems: [...stops, ...unreachable.map((error) => nobodyHome(error))],
  })
}

/** The most telling exit code: a refused key before a deferral before failed days. */
function exitCodeOf(results: readonly SyncResult[], stops: readonly AppError[]): ExitCode {
  const order = [ExitCode.credential, ExitCode.usage, ExitCode.deferred]
  const told = order.find((code) => stops.some((stop) => stop.exitCode === code))
  if (told !== undefined) return told
  const isShort = results.some(({ failed, unreachable }) => failed > 0 || unreachable !== null)
  return isShort ? ExitCode.partial : ExitCode.complete
}

function nobodyHome(error: Error): PartialError {
  const what =
    error instanceof TransportError ? 'could not be reached' : 'did not answer as it should'
  return new PartialError(`the platform ${what}: ${error.message}`, {
    hint: 'Nothing new was published; the next run asks again.',
    cause: error,
  })
}

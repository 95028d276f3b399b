import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { mapLimit } from '../lib/concurrency.ts'
import { diskFault, explainedFault } from '../lib/disk.ts'
import { AppError, asError, ExitCode, LockedError, messageOf, PartialError } from '../lib/errors.ts'
import { inChunks } from '../lib/grouped.ts'
import { inLowMemoryMode } from '../lib/heap.ts'
import { hasRedactionKey } from '../lib/secrets/redaction.ts'
import { spillFolder } from '../lib/spill.ts'
import { warner } from '../lib/world.ts'
import { NO_ORGANISATION, removeOldPageBuffers, type RawFile } from '../lake/layout.ts'
import { knownOrganisations, type Ledger } from '../lake/ledger.ts'
import { ofNames, readOrganisations, type Known } from '../lake/organisations.ts'
import { latestData, type PointInTime } from '../lake/point-in-time.ts'
import type { DamagedFile } from '../lake/quarantine.ts'
import { rawDays } from '../lake/raw-days.ts'
import { ENTITY_RESOURCES } from '../lake/resources.ts'
import { learnedLimits } from '../lake/state-file.ts'
import { ApiClient, outOfTime } from '../client/index.ts'
import type { Config, OrganisationConfig } from '../config/config.ts'
import type { EntitySelection } from '../extract/entities/context.ts'
import { landSpool } from '../extract/entities/hooks.ts'
import type { Owners } from '../extract/identity.ts'
import { LandingDatabase } from '../extract/land/raw-writer.ts'
import { damagedFiles, quarantineDamaged, verifyVersions } from '../extract/land/verify-versions.ts'
import {
  emptyResult,
  failOrganisation,
  syncOrganisation,
  type SyncListeners,
  type SyncOptions,
} from '../extract/organisation.ts'
import type { DaySelection } from '../extract/plan/sync-plan.ts'
import type { BaseEngine } from '../normalize/batch.ts'
import { normalize, type BaseOf } from '../normalize/normalize.ts'
import { baseOptions, EarlyBase } from './early-base.ts'
import { outcomeOf, type OrganisationResult, type SyncOutcome } from './outcome.ts'
import { downgradeToPartial, timed, type RunContext, reconcileLedgers } from './run-context.ts'

/** What to request: analytics and entity resources. */
export interface SyncSelection extends DaySelection {
  /**
   * The resources to request. Default: all; none if `days` or a last day is given, because
   * entity resources have no past days.
   */
  readonly entities?: Partial<Pick<EntitySelection, 'sessions' | 'messages'>> & {
    readonly resources?: EntitySelection['resources'] | undefined
  }
  /** Names of the organisations; absent: all of the configuration. */
  readonly organisations?: readonly string[] | undefined
}

/** Source → raw → base. An organisation that fails does not stop the others. */
export async function sync(context: RunContext, selection: SyncSelection): Promise<SyncOutcome> {
  const outcome = await inLowMemoryMode(() => landAndNormalize(context, selection))
  return deferredIfStopped(context, outcome)
}

/**
 * Calls `whileWaiting` when the run begins to wait for responses. The outcome does not say whether a
 * signal stopped the run: the caller adds that with `deferredIfStopped`.
 */
export async function landAndNormalize(
  context: RunContext,
  selection: SyncSelection,
  whileWaiting: () => void = () => undefined,
): Promise<SyncOutcome> {
  const { length } = context.config.organisations(selection.organisations)
  await using earlyBase = new EarlyBase(context, length, whileWaiting)
  const landed = await landOrganisations(context, selection, earlyBase)
  if (!landed.hasNews || context.world.signal.aborted) return landed
  const pointInTime = latestData(context.config.dataFolder)
  const missing = await normalizeAll(context, pointInTime, earlyBase.engine, earlyBase)
  return downgradeToPartial(missing, landed)
}

/** Source → raw, several organisations at a time. */
export async function landOrganisations(
  context: RunContext,
  selection: SyncSelection,
  listeners: SyncListeners = {},
): Promise<SyncOutcome> {
  const { config } = context
  const organisations = config.organisations(selection.organisations)
  const isAlone = organisations.length === 1
  // checksums of pages, which an earlier version wrote and nothing reads
  await rm(join(config.dataFolder, 'state', 'walks'), { recursive: true, force: true })
  let missing = 0
  const syncAll = async (): Promise<readonly OrganisationResult[]> => {
    await using database = new LandingDatabase(config.dataFolder)
    const known = await knownNames(config)
    const owners: Owners = new Map([...known].map(([name, { orgId }]) => [orgId, name]))
    if (selection.days === undefined) await warnOfMissingKey(context)
    const inTurn = await longestWaitingFirst(config.dataFolder, organisations)
    const finished = await mapLimit(inTurn, config.organisationsAtOnce, (organisation) => {
      const work = () =>
        syncOne(context, organisation, selection, { listeners, database, owners, known })
      return isAlone ? work() : withoutStoppingOthers(context, organisation, work)
    })
    const resultOf = new Map(finished.map((result) => [result.name, result]))
    const results = organisations.flatMap(({ name }) => resultOf.get(name) ?? [])
    const opened = results.map(({ orgId }) => orgId)
    if (!context.world.signal.aborted) {
      missing = await reconcileLedgers(context, opened)
      await removeOldPageBuffers(config.dataFolder, context.world.now())
    }
    // before the first answer of the only organisation, it is not known whose they are
    const isMet = results.some(({ orgId }) => orgId !== null)
    if (selection.days === undefined && isMet) await landHooks(context)
    return results
  }
  const outcome = outcomeOf(await timed(context, 'sync', syncAll))
  for (const failure of outcome.failures) context.world.emit(failure)
  return downgradeToPartial(missing, outcome)
}

/** Warns once, before an organisation makes the key again. */
async function warnOfMissingKey({ config, world }: RunContext): Promise<void> {
  const { dataFolder, redactionKey } = config
  const redacted = join(dataFolder, 'lake', 'raw', 'enterprise_controls')
  if (redactionKey !== null || !existsSync(redacted) || (await hasRedactionKey(dataFolder))) return
  warner(world)(
    'state/redaction.key is missing: a new one is made, and every redacted secret counts as changed once',
  )
}

/** The organisations of earlier runs: each stays with its configured name. */
async function knownNames({ dataFolder, hosts }: Config): Promise<Known> {
  const names = hosts().map(({ name }) => name)
  return ofNames(await readOrganisations(dataFolder), names)
}

/**
 * Organisations that were requested the longest time ago come first, answered or not, so that runs
 * that are stopped before the last one never keep the same ones from being requested.
 */
async function longestWaitingFirst(
  dataFolder: string,
  organisations: readonly OrganisationConfig[],
): Promise<readonly OrganisationConfig[]> {
  const times = await mapLimit(organisations, 8, async ({ name }) => {
    // written at the end of each organisation's turn
    return [name, await learnedLimits.writtenAt(dataFolder, name)] as const
  })
  const timeOf = new Map(times)
  return organisations.toSorted((a, b) => (timeOf.get(a.name) ?? 0) - (timeOf.get(b.name) ?? 0))
}

/**
 * The result of one of several organisations, also if its work fails. An organisation whose turn
 * comes after the end of the run is not requested.
 *
 * @throws what ends the work of all: a lost lease, a full disk.
 */
async function withoutStoppingOthers(
  { world, deadline }: RunContext,
  { name }: OrganisationConfig,
  work: () => Promise<OrganisationResult>,
): Promise<OrganisationResult> {
  const reason: unknown = world.signal.reason
  if (world.signal.aborted && reason instanceof AppError)
    return { ...emptyResult(null, reason), name }
  if (world.now() >= deadline) return { ...emptyResult(null, outOfTime()), name }
  try {
    return await work()
  } catch (error) {
    if (error instanceof LockedError || diskFault(error) !== undefined) throw error
    const fault = explainedFault(error)
    const isExpected = fault instanceof AppError
    const failure = isExpected ? fault : new PartialError(messageOf(fault), { cause: fault })
    return { ...emptyResult(null, failure), name }
  }
}

/**
 * After a signal, a deferral: if it came after the last request, it skips only what follows. The
 * exit codes of a refused key and of a wrong configuration outweigh that of a deferral.
 */
export function deferredIfStopped({ world }: RunContext, outcome: SyncOutcome): SyncOutcome {
  if (!world.signal.aborted) return outcome
  const { results, problems, exitCode } = outcome
  const reason = asError(world.signal.reason)
  if (results.some(({ stoppedBy }) => stoppedBy === reason)) return outcome
  const isWorse = exitCode === ExitCode.credential || exitCode === ExitCode.usage
  const deferred = isWorse ? exitCode : ExitCode.deferred
  return { ...outcome, exitCode: deferred, problems: [...problems, reason] }
}

/** Lands one organisation with a client that uses the learned limits; saves what this run learns. */
async function syncOne(
  context: RunContext,
  organisation: OrganisationConfig,
  selection: SyncSelection,
  shared: Pick<SyncOptions, 'database' | 'owners' | 'known'> & {
    readonly listeners: SyncListeners
  },
): Promise<OrganisationResult> {
  const { config, world, runId, deadline } = context
  const { dataFolder, rate, concurrency } = config
  const { name, problem, baseUrl, appUrl, key: credential } = organisation
  const options = {
    ...shared,
    world,
    dataFolder,
    organisation: name,
    runId,
    concurrency,
    selection,
    entities: entitySelection(context, organisation, selection),
  }
  if (problem !== null) return { ...(await failOrganisation(options, problem)), name }
  const learned = await learnedLimits.read(dataFolder, name)
  const limits = { rate, concurrency, deadline, learned }
  const client = new ApiClient(
    { baseUrl, appUrl: appUrl ?? undefined, credential, ...limits },
    world,
  )
  try {
    return { ...(await syncOrganisation({ ...options, client })), name }
  } finally {
    await learnedLimits.write(dataFolder, name, client.learned()).catch((error: unknown) => {
      warner(world)(`the learned limits could not be saved: ${messageOf(error)}`)
    })
  }
}

/**
 * Raw → base, every organisation: the next one begins while statements of others run. After a
 * signal, nothing more is begun. `early`: what was written before. Returns how many days are missing
 * because of damaged files.
 */
export async function normalizeAll(
  context: RunContext,
  pointInTime: PointInTime,
  engine: BaseEngine,
  early?: EarlyBase,
): Promise<number> {
  const { config } = context
  let missing = 0
  await timed(context, 'normalize', async () => {
    const baseOf = async (orgId: string): Promise<BaseOf> => {
      const options = baseOptions(context, pointInTime, orgId)
      const ledger = await readLedger(config.dataFolder, orgId, pointInTime)
      const findDamaged = async (files: readonly RawFile[]): Promise<readonly RawFile[]> => {
        if (pointInTime.asOf !== null) return refuseDamaged(config.dataFolder, orgId, files, ledger)
        const warn = warner(context.world, 'damage')
        const damaged = await quarantineDamaged(config.dataFolder, orgId, files, ledger, warn)
        missing += damaged.length
        return damaged
      }
      return { options: { ...options, ledger, findDamaged }, base: await early?.base(orgId) }
    }
    const orgIds = [NO_ORGANISATION, ...(await knownOrganisations(config.dataFolder))]
    await mapLimit(inChunks(orgIds, ORGANISATIONS_TOGETHER), CHUNKS_AT_ONCE, async (chunk) => {
      if (context.world.signal.aborted) return
      await normalize(await mapLimit(chunk, 1, baseOf), engine)
    })
    await rm(spillFolder(config.dataFolder), { recursive: true, force: true })
  })
  return missing
}

/**
 * Finds no damage. @throws AppError for a damaged file: a build with `--as-of` leaves out no day.
 */
async function refuseDamaged(
  dataFolder: string,
  orgId: string,
  files: readonly RawFile[],
  ledger: Ledger,
): Promise<readonly RawFile[]> {
  refuse(orgId, await damagedFiles(dataFolder, orgId, files, ledger))
  return []
}

/** @throws AppError that names the first of the damaged files. */
function refuse(orgId: string, [damaged]: readonly DamagedFile[]): void {
  if (damaged === undefined) return
  const { resource, day, file, reason } = damaged
  throw new AppError(
    `a build with --as-of needs a damaged file: ${resource} ${day} of ${orgId}: ${file}: ${reason}`,
    { hint: 'agent-warehouse rebuild moves damaged files to quarantine; then build again.' },
  )
}

/**
 * Reads the ledger; for a point in time, from the versions of that time.
 *
 * @throws AppError that names a version that cannot be read.
 */
async function readLedger(
  dataFolder: string,
  orgId: string,
  { asOf, ledgerOf }: PointInTime,
): Promise<Ledger> {
  if (asOf === null) return ledgerOf(orgId)
  try {
    return await ledgerOf(orgId)
  } catch (error) {
    const days = await rawDays(dataFolder, orgId)
    const files = days.flatMap(({ versions, ...day }) => versions.map((file) => ({ ...day, file })))
    refuse(orgId, (await verifyVersions(dataFolder, orgId, files)).damaged)
    throw error
  }
}

/** Enough small organisations for a statement; their state is in memory. */
const ORGANISATIONS_TOGETHER = 16

/** One is planned while the statements of another are executed. */
const CHUNKS_AT_ONCE = 2

/** The entity resources to request from one organisation. Readiness reports are on the application host. */
export function entitySelection(
  context: Pick<RunContext, 'config'>,
  { appUrl }: Pick<OrganisationConfig, 'appUrl'>,
  selection: SyncSelection,
): EntitySelection {
  const { entities = {}, within, days, refetch = false } = selection
  const isOfDays = days !== undefined || within?.last !== undefined
  const resources = entities.resources ?? (isOfDays ? [] : ENTITY_RESOURCES)
  return {
    resources: resources.filter((name) => name !== 'readiness_reports' || appUrl !== null),
    areNamed: entities.resources !== undefined,
    sessions: entities.sessions ?? [],
    messages: entities.messages ?? [],
    refetch,
    ...hookOwner(context),
    redactionKey: context.config.redactionKey,
  }
}

/** Lands the hook events that no organisation's sync has landed. */
export async function landHooks(context: RunContext): Promise<void> {
  const { config, world, runId } = context
  const { dataFolder, redactionKey } = config
  await landSpool({ dataFolder, runId, world, ...hookOwner(context), redactionKey })
}

/**
 * The configured organisation of hook events; if none is configured, empty if there are several
 * organisations, and null if there is one.
 */
function hookOwner({ config }: Pick<RunContext, 'config'>) {
  const [first, ...others] = config.hosts()
  const isAlone = others.length === 0
  return {
    organisationOfHookEvents: config.hooks.organisation ?? (isAlone ? null : ''),
    onlyOrganisation: isAlone ? first?.name : undefined,
  }
}

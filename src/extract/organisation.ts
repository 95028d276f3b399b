import { isDeepStrictEqual } from 'node:util'
import { allOrThrow, mapLimit } from '../lib/concurrency.ts'
import { addDays, dayOf, latest } from '../lib/days.ts'
import {
  type AppError,
  asError,
  CredentialError,
  DeferredError,
  isStop,
  type Stop,
} from '../lib/errors.ts'
import type { PlanReason } from '../lib/events.ts'
import { openRedaction } from '../lib/secrets/redaction.ts'
import { warner, type World } from '../lib/world.ts'
import { removePageBuffersExcept } from '../lake/layout.ts'
import { intervalKey, type Ledger, type LedgerFile } from '../lake/ledger.ts'
import {
  isSame,
  readOrganisations,
  rememberOrganisation,
  type Known,
  type KnownOrganisation,
} from '../lake/organisations.ts'
import { DAY_TOTALS, isOfUsers, RESOURCES, type Resource } from '../lake/resources.ts'
import { learnedSizes } from '../lake/state-file.ts'
import type { ApiClient } from '../client/index.ts'
import { Breaker, abortsRun, type FetchContext } from './context.ts'
import type { EntitySelection } from './entities/context.ts'
import { ownHooks } from './entities/hooks.ts'
import { syncEntities } from './entities/sync.ts'
import { fetchUsersDay, landingQueue, verifyPagesConsistent } from './fetch/users.ts'
import { WindowFetcher } from './fetch/window.ts'
import {
  isWrongAddress,
  organisationMismatch,
  OrganisationError,
  identifyOrganisation,
  claimOrganisation,
  warnOfClockAndRange,
  wrongAddress,
  type Identity,
  type Owners,
  ClockError,
} from './identity.ts'
import { IntervalRecorder } from './land/interval-recorder.ts'
import type { LandingDatabase } from './land/raw-writer.ts'
import { quarantineDamagedEntities } from './land/verify-versions.ts'
import { forgetImpossible, openLedger, type OpenLedger } from './open-ledger.ts'
import { daysOf, planSync, type DaySelection, type FetchTask } from './plan/sync-plan.ts'
import { spanOf, WindowSizes } from './plan/window-size.ts'

export interface SyncOptions extends OrganisationOptions {
  readonly client: ApiClient
}

interface OrganisationOptions {
  readonly world: World
  readonly dataFolder: string
  /** The organisation's name in the configuration. */
  readonly organisation: string
  readonly runId: string
  /** Concurrent tasks; the governor bounds the requests. */
  readonly concurrency: number
  readonly selection: DaySelection
  /** Entity resources to request; absent: none. */
  readonly entities?: EntitySelection
  readonly listeners?: SyncListeners
  /** Writes the days of all organisations of the run. */
  readonly database: LandingDatabase
  /** The configured names of all organisations of the run. */
  readonly owners: Owners
  /** What earlier runs know of them; see `ofNames`. Default: what the data folder has. */
  readonly known?: Known
}

/** Called while the run waits for responses, so that other work can be done meanwhile. */
export interface SyncListeners {
  /** The run waits for its first responses. */
  readonly onFirstWait?: (orgId: string) => void
  /** All missing days of a month, `YYYY-MM`, have landed or failed; other requests continue. */
  readonly onMonthComplete?: (orgId: string, month: string, ledger: Ledger) => void
}

export interface SyncResult {
  /** Null when the platform was never reached and the organisation is not known. */
  readonly orgId: string | null
  readonly landed: number
  readonly failed: number
  /** Days that lost an earlier version, or the current one and have not landed again. */
  readonly missing: number
  /** The error that stopped the work early: a refusal, a deferral, or another's credential. */
  readonly stoppedBy: AppError | null
  /** Why the first request failed, where it did. */
  readonly unreachable: Error | null
}

/** Lands every interval of one organisation that is missing or due. */
export async function syncOrganisation(options: SyncOptions): Promise<SyncResult> {
  const { world, dataFolder, organisation, owners } = options
  const remembered = await rememberedBy(options)
  const known = remembered?.orgId ?? null
  const rememberedConflict = known === null ? null : claimOrganisation(owners, known, organisation)
  if (rememberedConflict !== null) return emptyResult(known, rememberedConflict)
  const [identified, ledgerOfKnown] = await Promise.allSettled([
    identifyOrganisation(options.client, world, remembered),
    known === null ? null : openLedger(dataFolder, known, warner(world)),
  ])
  if (ledgerOfKnown.status === 'rejected') throw ledgerOfKnown.reason
  if (identified.status === 'rejected') {
    return withoutIdentity(options, remembered, ledgerOfKnown.value, identified.reason)
  }
  const identity = identified.value
  if (identity.orgId !== null && !isSame(remembered, identity.orgId)) {
    const isOfOther = owners.has(identity.orgId)
    const mismatch =
      (isOfOther ? claimOrganisation(owners, identity.orgId, organisation) : null) ??
      organisationMismatch(organisation, identity.orgId, known)
    return withoutIdentity(options, remembered, ledgerOfKnown.value, mismatch)
  }
  const orgId = known ?? identity.orgId ?? organisation
  const conflict = claimOrganisation(owners, orgId, organisation)
  if (conflict !== null) return emptyResult(null, conflict)
  const servedAs = identity.orgId ?? remembered?.servedAs ?? null
  const lastDay = latest(addDays(identity.today, -1), remembered?.lastDay)
  const remember = { orgId, servedAs, lastDay, skewMs: identity.skewMs }
  await rememberOrganisation(dataFolder, organisation, remember, warner(world))
  warnOfClockAndRange(identity, options.selection.within, world)
  world.emit({
    type: 'organisation.identified',
    orgId,
    today: identity.today,
    skewSeconds: Math.round(identity.skewMs / 1000),
  })
  const opened = ledgerOfKnown.value ?? (await openLedger(dataFolder, orgId, warner(world)))
  return landDue(options, { orgId, servedAs }, identity, opened)
}

async function rememberedBy(options: OrganisationOptions): Promise<KnownOrganisation | undefined> {
  const known = options.known ?? (await readOrganisations(options.dataFolder))
  return known.get(options.organisation)
}

/**
 * The result of a run whose first request failed, or showed another organisation.
 * @throws what aborts the run
 */
async function withoutIdentity(
  options: SyncOptions,
  remembered: KnownOrganisation | undefined,
  opened: OpenLedger | null,
  error: unknown,
): Promise<SyncResult> {
  const known = remembered?.orgId ?? null
  if (error instanceof DeferredError || error instanceof ClockError)
    return emptyResult(known, error)
  const failure = asError(error)
  const isRefused = failure instanceof CredentialError || failure instanceof OrganisationError
  if (!isRefused && abortsRun(error)) throw error
  if (remembered === undefined && isWrongAddress(error))
    return emptyResult(known, wrongAddress(error))
  // nothing was ever recorded of an organisation of another data folder, whose record was restored here
  const isKnown = remembered !== undefined && opened !== null && opened.ledger.intervals.size > 0
  const counts = isKnown ? await failDue(options, remembered, opened.ledger, failure) : {}
  const why = isRefused ? { stoppedBy: failure } : { unreachable: failure }
  return { ...emptyResult(known), ...counts, ...why }
}

/**
 * The result of an organisation that cannot even be identified, as without a key. If it was loaded
 * before, its due days are recorded as failed, so that they show as gaps.
 */
export async function failOrganisation(
  options: OrganisationOptions,
  stoppedBy: AppError,
): Promise<SyncResult> {
  const { dataFolder, organisation, owners, world } = options
  const remembered = await rememberedBy(options)
  if (remembered === undefined) return emptyResult(null, stoppedBy)
  const { orgId } = remembered
  // under another name, the organisation may be landing now
  if (claimOrganisation(owners, orgId, organisation) !== null) return emptyResult(orgId, stoppedBy)
  const { ledger } = await openLedger(dataFolder, orgId, warner(world))
  if (ledger.intervals.size === 0) return emptyResult(orgId, stoppedBy)
  const counts = await failDue(options, remembered, ledger, stoppedBy)
  return { ...emptyResult(orgId, stoppedBy), ...counts }
}

async function landDue(
  options: SyncOptions,
  { orgId, servedAs }: Pick<KnownOrganisation, 'orgId' | 'servedAs'>,
  identity: Identity,
  opened: OpenLedger,
): Promise<SyncResult> {
  const { client, world, dataFolder, runId, concurrency, database, selection, listeners } = options
  const { ledger, missing, lost } = opened
  const warn = warner(world)
  await forgetImpossible(ledger, identity.today)
  const now = world.now() + identity.skewMs
  const savedSizes = (await learnedSizes.read(dataFolder, orgId)) ?? new Map()
  const when = { today: identity.today, now }
  const tasks = planSync(ledger.intervals, { ...selection, ...when, windowSizes: savedSizes })
  announce(tasks, orgId, world)
  // also keeps page buffers of days that --only or --from left out today
  const due = intervalsOf([...tasks, ...planSync(ledger.intervals, when)])
  const wanted = new Set(due.map(({ resource, day }) => intervalKey(resource, day)))
  await removePageBuffersExcept(dataFolder, orgId, (resource, day) =>
    wanted.has(intervalKey(resource, day)),
  )
  const recorder = recorderOf(options, ledger, now)
  const windowSizes = new WindowSizes(savedSizes)
  const context: FetchContext = {
    dataFolder,
    orgId,
    runId,
    world,
    skewMs: identity.skewMs,
    ledger: ledger.intervals,
    database,
    warn,
    recorder,
    client,
    concurrency,
    breaker: new Breaker(),
    windowSizes,
    servedAs,
  }
  const missingDays = intervalsOf(tasks).filter(({ reason }) => reason !== 'recheck')
  recorder.reportMonths(missingDays, (month) => {
    listeners?.onMonthComplete?.(orgId, month, ledger.intervals)
  })
  let stop: Stop | null = null
  try {
    // at once, because limits and computers cannot be requested for an earlier day: a backfill that
    // runs out of time must not lose them
    const fetching = allOrThrow([
      fetchTasks(context, tasks, selection.resources ?? RESOURCES),
      fetchEntities(options, context, ledger),
    ])
    listeners?.onFirstWait?.(orgId)
    await fetching
  } catch (error) {
    if (!isStop(error)) throw error
    stop = error
  }
  const learned = windowSizes.learned(now)
  if (!isDeepStrictEqual(savedSizes, learned)) await learnedSizes.write(dataFolder, orgId, learned)
  const stillMissing = missing.filter(
    ({ resource, day }) => recorder.interval(resource, day) === undefined,
  )
  const counts = { ...recorder.counts, missing: lost + stillMissing.length }
  return { ...emptyResult(orgId, stop ?? context.breaker.forbidden), ...counts }
}

/**
 * Executes the plan. Users of a day are requested after its totals have landed, so that a change of
 * the totals in between is noticed; everything else is requested immediately. Days that are not
 * available are recorded as failed. `resources`: the selected ones.
 *
 * @throws errors that abort the run (see `abortsRun`), after the work in progress has landed.
 */
async function fetchTasks(
  context: FetchContext,
  tasks: readonly FetchTask[],
  resources: readonly Resource[],
): Promise<void> {
  const { breaker, recorder, concurrency } = context
  const isTotal = ({ resource }: FetchTask): boolean => DAY_TOTALS.includes(resource)
  const isUsers = ({ resource }: FetchTask): boolean => isOfUsers(resource.name)
  const users = tasks.filter(isUsers)
  const others = tasks.filter((task) => !isTotal(task) && !isUsers(task))
  const landing = landingQueue(context)
  const landingTotals: Promise<void>[] = []
  const fetchTask = async (task: FetchTask): Promise<void> => {
    const { resource, range, first } = task
    const days = daysOf(task.days)
    const tripped = breaker.tripped(resource.name)
    if (tripped !== undefined) await recorder.failed(resource.name, days, tripped)
    else if (!isUsers(task))
      await new WindowFetcher(context, resource, first).fetch(days, spanOf(range))
    else for (const day of days) await fetchUsersDay(context, landing, resource, day)
  }
  try {
    // Totals come first in order: all of them are in progress when users are requested.
    await mapLimit([...tasks.filter(isTotal), ...others, ...users], concurrency, async (task) => {
      const outcomes = isUsers(task) ? await Promise.allSettled(landingTotals) : []
      if (outcomes.some(({ status }) => status === 'rejected')) return
      const fetching = fetchTask(task)
      if (isTotal(task)) landingTotals.push(fetching)
      await fetching
    })
    await landing.ended()
    for (const resource of resources)
      if (isOfUsers(resource.name)) await verifyPagesConsistent(context, landing, resource)
  } finally {
    await landing.ended().finally(() => recorder.endRefusals())
  }
}

function intervalsOf(tasks: readonly FetchTask[]) {
  return tasks.flatMap(({ resource: { name: resource }, days }) =>
    days.map(({ day, reason }) => ({ resource, day, reason })),
  )
}

async function fetchEntities(
  { entities, organisation: name }: SyncOptions,
  context: FetchContext,
  ledger: LedgerFile,
): Promise<void> {
  const { dataFolder, orgId } = context
  if (entities === undefined || entities.resources.length === 0) return
  const own = await ownHooks(entities, dataFolder, { orgId, name })
  const redaction = await openRedaction(dataFolder, entities.redactionKey)
  await quarantineDamagedEntities(ledger)
  await syncEntities({ ...context, selection: own, redaction })
}

function recorderOf(
  { world, selection }: OrganisationOptions,
  ledger: LedgerFile,
  now: number,
): IntervalRecorder {
  return new IntervalRecorder(ledger, world, {
    plannedAt: now,
    isForced: selection.refetch === true,
  })
}

/** Records every due day as failed, by the platform's clock as last seen. Returns their number. */
async function failDue(
  options: OrganisationOptions,
  { orgId, skewMs }: KnownOrganisation,
  ledger: LedgerFile,
  failure: Error,
): Promise<Pick<SyncResult, 'landed' | 'failed'>> {
  const { world } = options
  const now = world.now() + skewMs
  const tasks = planSync(ledger.intervals, { ...options.selection, today: dayOf(now), now })
  announce(tasks, orgId, world)
  const recorder = recorderOf(options, ledger, now)
  for (const task of tasks) await recorder.failed(task.resource.name, daysOf(task.days), failure)
  for (const resource of options.entities?.resources ?? []) {
    const isKnown = [...ledger.intervals.values()].some((each) => each.resource === resource)
    if (isKnown && resource !== 'hook_events')
      await recorder.failed(resource, [dayOf(now)], failure)
  }
  await recorder.endRefusals()
  return recorder.counts
}

/** The result of an organisation of which nothing was requested, or nothing was answered. */
export function emptyResult(
  orgId: string | null,
  stoppedBy: SyncResult['stoppedBy'] = null,
): SyncResult {
  return { orgId, landed: 0, failed: 0, missing: 0, stoppedBy, unreachable: null }
}

function announce(tasks: readonly FetchTask[], orgId: string, world: World): void {
  const days: Record<string, number> = {}
  const reasons: Record<PlanReason, number> = { missing: 0, failed: 0, recheck: 0, forced: 0 }
  for (const task of tasks) {
    days[task.resource.name] = (days[task.resource.name] ?? 0) + task.days.length
    for (const { reason } of task.days) reasons[reason] += 1
  }
  world.emit({ type: 'plan.made', orgId, requests: tasks.length, days, reasons })
}

import { addDays, dayOf, type Day } from '../core/days.ts'
import { AppError, asError, CredentialError, DeferredError } from '../core/errors.ts'
import type { PlanReason } from '../core/events.ts'
import { warner, type World } from '../core/world.ts'
import type { PlatformClient } from '../client/index.ts'
import { intervalKey, LedgerFile, type Interval, type Ledger } from '../store/ledger.ts'
import {
  isSame,
  readOrganisations,
  rememberOrganisation,
  type KnownOrganisation,
} from '../store/organisations.ts'
import { intervalsWithoutFile } from '../store/quarantine.ts'
import { openRedaction } from '../store/redaction.ts'
import { readWindowCaps, writeWindowCaps } from '../store/windows.ts'
import type { BesideSelection } from './beside/context.ts'
import { ownHooks } from './beside/hooks.ts'
import { syncBeside } from './beside/sync.ts'
import { IntervalBook } from './book.ts'
import { ClockError } from './clock.ts'
import { Breaker, isFatal } from './failures.ts'
import type { FetchContext } from './context.ts'
import { fetchAll, newsTeller } from './fetch.ts'
import {
  isWrongAddress,
  mixedUp,
  OrganisationError,
  shakeHands,
  warnOfRange,
  warnOfSkew,
  wrongAddress,
  type Handshake,
} from './handshake.ts'
import { RawWriter } from './land.ts'
import { openLandingDatabase } from './landing-database.ts'
import { forgetLost, stillLost } from './lost.ts'
import { removeParts } from './parts-folder.ts'
import { planSync, type FetchTask, type PlanOptions } from './plan.ts'
import { RESOURCES } from './resources.ts'
import { isExpected, runAll, type Stop } from './run-all.ts'
import type { LooksOfRun } from './shrink.ts'
import { Widths } from './widths.ts'

export interface SyncOptions {
  readonly client: PlatformClient
  readonly world: World
  readonly dataFolder: string
  /** The organisation's name in the configuration. */
  readonly organisation: string
  readonly runId: string
  /** Tasks under way at once; the governor bounds the requests. */
  readonly concurrency: number
  readonly plan: Pick<PlanOptions, 'resources' | 'within' | 'days' | 'refetch'>
  /** What else is asked for; absent: nothing. */
  readonly beside?: BesideSelection
  readonly meanwhile?: Meanwhile
}

/** Told while answers are waited for: there is time for other work. */
export interface Meanwhile {
  /** The first answers are waited for. */
  readonly waiting?: (orgId: string) => void
  /** Every day of a resource that was missing has landed or failed; more is being asked for. */
  readonly newsCame?: (orgId: string, resource: string, ledger: Ledger) => void
}

export interface SyncResult {
  /** Null when the platform was never reached and the organisation is not known. */
  readonly orgId: string | null
  /** Whether the platform answered the first request. */
  readonly isReached: boolean
  readonly landed: number
  readonly failed: number
  /** Days whose file in the lake was gone, and which were not asked for. */
  readonly lost: number
  /** What stopped the work, or a part of it, before the plan was done: a refusal, a deferral, another's credential. */
  readonly stoppedBy: AppError | null
  /** Why the first request failed, where it did. */
  readonly unreachable: Error | null
}

/** Lands every interval of one organisation that is missing or due. */
export async function syncOrganisation(options: SyncOptions): Promise<SyncResult> {
  const { world, dataFolder, organisation } = options
  const remembered = (await readOrganisations(dataFolder)).get(organisation)
  const known = remembered?.orgId ?? null
  const [shaken, found] = await Promise.allSettled([
    shakeHands(options.client, world, remembered),
    known === null ? null : openLedger(options, known),
  ])
  if (found.status === 'rejected') throw found.reason
  if (shaken.status === 'rejected') {
    return withoutHandshake(options, remembered, found.value, shaken.reason)
  }
  const hello = shaken.value
  if (hello.orgId !== null && !isSame(remembered, hello.orgId)) {
    return { ...nothing(known), stoppedBy: mixedUp(organisation, hello.orgId, known) }
  }
  const orgId = known ?? hello.orgId ?? organisation
  const servedAs = hello.orgId ?? remembered?.servedAs ?? null
  const lastDay = latest(addDays(hello.today, -1), remembered?.lastDay)
  const remember = { orgId, servedAs, lastDay, skewMs: hello.skewMs }
  await rememberOrganisation(dataFolder, organisation, remember, warner(world))
  warnOfSkew(hello, world)
  warnOfRange(options.plan.within, hello, world)
  world.emit({
    type: 'organisation.identified',
    orgId,
    today: hello.today,
    skewSeconds: Math.round(hello.skewMs / 1000),
  })
  return execute(options, orgId, hello, found.value ?? (await openLedger(options, orgId)))
}

/** What comes of a run whose first request failed. @throws what is fatal */
async function withoutHandshake(
  options: SyncOptions,
  remembered: KnownOrganisation | undefined,
  opened: OpenLedger | null,
  error: unknown,
): Promise<SyncResult> {
  const known = remembered?.orgId ?? null
  const isExpected = [CredentialError, DeferredError, ClockError, OrganisationError].some(
    (of) => error instanceof of,
  )
  if (isExpected && error instanceof AppError) {
    return { ...nothing(known), stoppedBy: error }
  }
  if (isFatal(error)) throw error
  if (remembered === undefined && isWrongAddress(error))
    return { ...nothing(known), stoppedBy: wrongAddress(error) }
  if (remembered === undefined || opened === null)
    return { ...nothing(null), unreachable: asError(error) }
  return unreachable(options, remembered, opened.ledger, error)
}

/** The ledger, and what it names that is not in the lake. */
interface OpenLedger {
  readonly ledger: LedgerFile
  readonly lost: readonly Interval[]
}

async function openLedger({ world, dataFolder }: SyncOptions, orgId: string): Promise<OpenLedger> {
  const ledger = await LedgerFile.open(dataFolder, orgId, warner(world))
  return { ledger, lost: await intervalsWithoutFile(dataFolder, orgId, ledger.intervals.values()) }
}

async function execute(
  options: SyncOptions,
  orgId: string,
  hello: Handshake,
  { ledger, lost }: OpenLedger,
): Promise<SyncResult> {
  const { world, dataFolder } = options
  const warn = warner(world)
  await forgetLost(orgId, ledger, lost, warn)
  const now = world.now() + hello.skewMs
  const caps = await readWindowCaps(dataFolder, orgId)
  const tasks = planSync(ledger.intervals, { ...options.plan, today: hello.today, now, caps })
  announce(tasks, orgId, world)
  const resources = options.plan.resources ?? RESOURCES
  const due = planSync(ledger.intervals, { today: hello.today, now })
  await removeParts(dataFolder, orgId, walksOf([...tasks, ...due]))
  const looks = looksOf(options, now)
  const book = new IntervalBook(ledger, orgId, world, looks)
  const widths = new Widths(caps)
  const database = await openLandingDatabase(dataFolder)
  try {
    const context: FetchContext = {
      client: options.client,
      writer: new RawWriter({ dataFolder, orgId, ledger: ledger.intervals, database, warn }),
      book,
      breaker: new Breaker(),
      widths,
      looks,
      world,
      runId: options.runId,
      skewMs: hello.skewMs,
    }
    const users = resources.find(({ grain }) => grain === 'users')
    const done = newsTeller(tasks, (resource) => {
      options.meanwhile?.newsCame?.(orgId, resource, ledger.intervals)
    })
    const forAll = <T>(items: readonly T[], work: (item: T) => Promise<unknown>) =>
      runAll(items, options.concurrency, work)
    const fetching = fetchAll(context, tasks, users, forAll, done)
    options.meanwhile?.waiting?.(orgId)
    const stop = (await fetching) ?? (await fetchBeside(options, context, ledger, orgId))
    const stoppedBy = stop ?? context.breaker.forbidden
    await writeWindowCaps(dataFolder, orgId, caps, widths.learnt(now))
    const counts = { ...book.counts, lost: stillLost(lost, ledger.intervals) }
    return { ...nothing(orgId), ...counts, isReached: true, stoppedBy }
  } finally {
    database.close()
  }
}

/** What the platform keeps beside analytics. Resolves to what must stop the run. */
async function fetchBeside(
  options: SyncOptions,
  context: FetchContext,
  ledger: LedgerFile,
  orgId: string,
): Promise<Stop | null> {
  const { beside, dataFolder, concurrency } = options
  if (beside === undefined || beside.resources.length === 0) return null
  const selection = await ownHooks(beside, dataFolder, orgId)
  const redaction = await openRedaction(dataFolder, beside.redactionKey)
  const forEach = async <T>(
    items: readonly T[],
    work: (item: T) => Promise<void>,
  ): Promise<void> => {
    const stop = await runAll(items, concurrency, work)
    if (stop !== null) throw stop
  }
  try {
    await syncBeside({ ...context, dataFolder, orgId, selection, redaction, forEach }, ledger)
    return null
  } catch (error) {
    if (isExpected(error)) return error
    throw error
  }
}

function looksOf({ plan }: SyncOptions, now: number): LooksOfRun {
  return { plannedAt: now, isForced: plan.refetch === true }
}

/** What may be gone on with: the part of a window is worth nothing. */
function walksOf(tasks: readonly FetchTask[]): Set<string> {
  const walks = tasks.filter(({ resource }) => resource.grain === 'users')
  return new Set(
    walks.flatMap(({ resource, days }) => days.map(({ day }) => intervalKey(resource.name, day))),
  )
}

/** Without an answer, the platform's clock is reckoned as it was last seen; every due day has failed. */
async function unreachable(
  options: SyncOptions,
  { orgId, skewMs }: KnownOrganisation,
  ledger: LedgerFile,
  error: unknown,
): Promise<SyncResult> {
  const failure = asError(error)
  const { world } = options
  const now = world.now() + skewMs
  const tasks = planSync(ledger.intervals, { ...options.plan, today: dayOf(now), now })
  announce(tasks, orgId, world)
  const book = new IntervalBook(ledger, orgId, world, looksOf(options, now))
  for (const task of tasks) {
    await book.failed(
      task.resource.name,
      task.days.map(({ day }) => day),
      failure,
    )
  }
  for (const resource of options.beside?.resources ?? []) {
    const isKnown = [...ledger.intervals.values()].some((each) => each.resource === resource)
    if (isKnown && resource !== 'hook_events') await book.failed(resource, [dayOf(now)], failure)
  }
  return { ...nothing(orgId), ...book.counts, unreachable: failure }
}

function latest(a: Day, b: Day | undefined): Day {
  return b !== undefined && b > a ? b : a
}

function nothing(orgId: string | null): SyncResult {
  const counts = { landed: 0, failed: 0, lost: 0 }
  return { orgId, isReached: false, ...counts, stoppedBy: null, unreachable: null }
}

function announce(tasks: readonly FetchTask[], orgId: string, world: World): void {
  const days: Record<string, number> = {}
  const reasons: Record<PlanReason, number> = { missing: 0, failed: 0, look: 0, forced: 0 }
  for (const task of tasks) {
    days[task.resource.name] = (days[task.resource.name] ?? 0) + task.days.length
    for (const { reason } of task.days) reasons[reason] += 1
  }
  world.emit({ type: 'plan.made', orgId, requests: tasks.length, days, reasons })
}

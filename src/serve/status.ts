import { stat } from 'node:fs/promises'
import { addDays, type Day, type DayRange } from '../lib/days.ts'
import type { Learned } from '../lib/learned.ts'
import { orIfMissing } from '../lib/files.ts'
import { readAllLearned } from '../lake/governor-state.ts'
import { entityRows, intervalRows, knownRange, type IntervalRow } from '../lake/intervals.ts'
import { organisationsInLake, warehousePath } from '../lake/layout.ts'
import { knownOrganisations, type Ledger } from '../lake/ledger.ts'
import { leaseStatus, type LeaseStatus } from '../lib/lock.ts'
import { lastPlannedDay, readOrganisations } from '../lake/organisations.ts'
import type { Rollback } from '../lake/rollback-record.ts'
import { readWindowSizes, type WindowSize } from '../lake/window-sizes.ts'
import { presentBuild, rollbackInForce } from './rollback.ts'

/** Days without data that stand next to each other. */
export interface Gap extends DayRange {
  readonly status: 'failed' | 'missing'
  readonly days: number
  /** Why the last attempt failed; null when the days were never asked for. */
  readonly error: string | null
}

export interface ResourceStatus {
  readonly resource: string
  readonly landed: number
  readonly empty: number
  readonly failed: number
  readonly missing: number
  readonly settled: number
  /** The latest day that the platform answered for; null before the first. */
  readonly latestDay: Day | null
  readonly gaps: readonly Gap[]
  /** Days that came back much smaller; the next run looks a second time. */
  readonly suspects: readonly Day[]
  /** How wide a window may be, as learned; null where none was refused for its width. */
  readonly window: { readonly maxDays: number; readonly learntAt: string } | null
}

export interface OrganisationStatus {
  readonly orgId: string
  readonly firstDay: Day
  readonly lastDay: Day
  readonly resources: readonly ResourceStatus[]
  /** Of what is not analytics, as far as it was ever asked for. */
  readonly beside: readonly BesideStatus[]
}

export interface BesideStatus {
  readonly resource: string
  /** Days on which something new landed. */
  readonly landed: number
  /** The latest day on which it was had, whether or not anything was new; null: never. */
  readonly latestDay: Day | null
  /** Nights whose snapshot was missed, for good. */
  readonly missed: readonly Day[]
  /** Why it could not be had when it was last asked for; null where it was. */
  readonly error: string | null
}

export interface Published {
  readonly path: string
  /** When, ISO 8601, UTC. */
  readonly at: string
  readonly bytes: number
  /** The moment whose knowledge it holds, ISO 8601, UTC; null: all that had landed. */
  readonly asOf: string | null
  /** Set while an earlier file is published; the next build brings the present back. */
  readonly rollback: Rollback | null
}

/** What is known of the limits of one organisation's credential. */
export interface LimitStatus {
  /** Its name in the configuration. */
  readonly organisation: string
  /** Requests a second; null while no limit was met. */
  readonly rate: number | null
  /** Requests at once after a rest. */
  readonly burst: number | null
  readonly source: 'refusals' | 'headers' | null
  readonly measuredAt: string | null
  /** Requests in flight. */
  readonly concurrency: number
}

export interface Status {
  readonly dataFolder: string
  /** Null while nothing is published. */
  readonly published: Published | null
  /** Who writes in the folder at this moment. */
  readonly running: LeaseStatus | null
  /** Whose lease the next run takes over. */
  readonly left: LeaseStatus | null
  readonly organisations: readonly OrganisationStatus[]
  readonly learned: readonly LimitStatus[]
}

/**
 * What the data folder holds and lacks. Takes no lock, so it answers while a run is under way.
 *
 * @param ledgerOf what is known of an organisation's days.
 */
export async function readStatus(
  dataFolder: string,
  resources: readonly string[],
  now: number,
  ledgerOf: (orgId: string) => Promise<Ledger>,
): Promise<Status> {
  const lease = (await leaseStatus(dataFolder, now)) ?? null
  const known = await readOrganisations(dataFolder)
  const organisations: OrganisationStatus[] = []
  const withLedger = await knownOrganisations(dataFolder)
  const all = new Set([...withLedger, ...(await organisationsInLake(dataFolder))])
  for (const orgId of [...all].sort()) {
    const ledger = await ledgerOf(orgId)
    const range = knownRange(ledger, lastPlannedDay(known, orgId))
    const rows = intervalRows(orgId, ledger, resources, range)
    const caps = await readWindowSizes(dataFolder, orgId)
    organisations.push({
      orgId,
      firstDay: range.first,
      lastDay: range.last,
      resources: resources.map((resource) =>
        resourceStatus(
          resource,
          rows.filter((row) => row.resource === resource),
          caps.get(resource),
        ),
      ),
      beside: besideStatus(entityRows(orgId, ledger)),
    })
  }
  return {
    dataFolder,
    published: await published(dataFolder),
    running: lease?.state === 'alive' ? lease : null,
    left: lease?.state === 'alive' ? null : lease,
    organisations,
    learned: [...(await readAllLearned(dataFolder))].map(([name, learned]) =>
      limitOf(name, learned),
    ),
  }
}

function limitOf(organisation: string, { limit, concurrency }: Learned): LimitStatus {
  return {
    organisation,
    rate: limit?.rate ?? null,
    burst: limit?.burst ?? null,
    source: limit?.source ?? null,
    measuredAt: limit === null ? null : new Date(limit.measuredAt).toISOString(),
    concurrency,
  }
}

function resourceStatus(
  resource: string,
  rows: readonly IntervalRow[],
  cap: WindowSize | undefined,
): ResourceStatus {
  const count = (status: IntervalRow['status']): number =>
    rows.filter((row) => row.status === status).length
  const answered = rows.filter(({ status }) => status === 'landed' || status === 'empty')
  return {
    resource,
    landed: count('landed'),
    empty: count('empty'),
    failed: count('failed'),
    missing: count('missing'),
    settled: rows.filter((row) => row.isSettled).length,
    latestDay: answered.at(-1)?.day ?? null,
    gaps: gapsOf(rows),
    suspects: rows.filter(({ isSuspect }) => isSuspect).map(({ day }) => day),
    window: cap === undefined ? null : windowOf(cap),
  }
}

function besideStatus(rows: readonly IntervalRow[]): BesideStatus[] {
  return [...new Set(rows.map(({ resource }) => resource))].map((resource) => {
    const own = rows.filter((row) => row.resource === resource)
    const had = own.filter(({ status }) => status === 'landed' || status === 'empty')
    return {
      resource,
      landed: own.filter(({ status }) => status === 'landed').length,
      latestDay: had.at(-1)?.day ?? null,
      missed: own.filter(({ isRecoverable }) => !isRecoverable).map(({ day }) => day),
      error: own.at(-1)?.error ?? null,
    }
  })
}

function windowOf({ maxDays, learntAt }: WindowSize): ResourceStatus['window'] {
  return { maxDays, learntAt: new Date(learntAt).toISOString() }
}

function gapsOf(rows: readonly IntervalRow[]): Gap[] {
  const gaps: Gap[] = []
  for (const { status, day, error } of rows) {
    if (status !== 'failed' && status !== 'missing') continue
    const last = gaps.at(-1)
    const joins = last?.status === status && addDays(last.last, 1) === day && last.error === error
    if (last !== undefined && joins)
      gaps[gaps.length - 1] = { ...last, last: day, days: last.days + 1 }
    else gaps.push({ first: day, last: day, status, days: 1, error })
  }
  return gaps
}

async function published(dataFolder: string): Promise<Published | null> {
  const path = warehousePath(dataFolder)
  const file = await orIfMissing(stat(path), undefined)
  if (file === undefined) return null
  const build = await presentBuild(dataFolder)
  const rollback = await rollbackInForce(dataFolder)
  const at = file.mtime.toISOString()
  return { path, at, bytes: file.size, asOf: build?.asOf ?? null, rollback }
}

import { stat } from 'node:fs/promises'
import { learnedLimits, learnedSizes, type WindowSize } from '../lake/state-file.ts'
import { entityRows, intervalRows, knownRange, type IntervalRow } from '../lake/intervals.ts'
import { organisationsInLake, warehousePath } from '../lake/layout.ts'
import { knownOrganisations, type Ledger } from '../lake/ledger.ts'
import { lastPlannedDay, readOrganisations } from '../lake/organisations.ts'
import { RESOURCES } from '../lake/resources.ts'
import { mapLimit } from '../lib/concurrency.ts'
import { addDays, type DayRange } from '../lib/days.ts'
import { orIfMissing } from '../lib/files.ts'
import type { Learned } from '../lib/learned.ts'
import { leaseStatus } from '../lib/lock.ts'
import { errorPattern } from '../lib/text.ts'
import { presentBuild, rollbackInForce } from './rollback.ts'

export type Status = Readonly<Awaited<ReturnType<typeof readStatus>>>
export type OrganisationStatus = Status['organisations'][number]
export type ResourceStatus = Readonly<ReturnType<typeof resourceStatus>>
export type EntityStatus = Readonly<ReturnType<typeof entityStatus>[number]>
export type LimitStatus = Readonly<ReturnType<typeof limitOf>>

/** Consecutive days without data. */
export interface Gap extends DayRange {
  readonly status: 'failed' | 'missing'
  readonly days: number
  /** Why the last attempt for the first day failed; null if the days were never requested. */
  readonly error: string | null
}

/**
 * The state of the data folder. Takes no lock, so it can be called during a run.
 *
 * @param ledgerOf reads the ledger of an organisation.
 * @param names configured names of the organisations to report on; default: all.
 */
export async function readStatus(
  dataFolder: string,
  now: number,
  ledgerOf: (orgId: string) => Promise<Ledger>,
  names?: readonly string[],
) {
  const lease = (await leaseStatus(dataFolder, now)) ?? null
  const known = await readOrganisations(dataFolder)
  const withLedger = await knownOrganisations(dataFolder)
  const inFolder = new Set([...withLedger, ...(await organisationsInLake(dataFolder))])
  const requested = names?.map((name) => known.get(name)?.orgId ?? name)
  const all = [...inFolder].filter((orgId) => requested?.includes(orgId) ?? true).sort()
  // an organisation whose name was changed, and perhaps back, has the name of its last run
  const byDay = [...known].toSorted(([, a], [, b]) => a.lastDay.localeCompare(b.lastDay))
  const nameOf = new Map(byDay.map(([name, { orgId }]) => [orgId, name]))
  const organisations = await mapLimit(all, ORGANISATIONS_AT_ONCE, async (orgId) => {
    const ledger = await ledgerOf(orgId)
    const range = knownRange(ledger, lastPlannedDay(known, orgId))
    const rows = intervalRows(orgId, ledger, range)
    const windows = await learnedSizes.read(dataFolder, orgId)
    return {
      orgId,
      /** The configured name in the last run that loaded it; null if unknown. */
      name: nameOf.get(orgId) ?? null,
      firstDay: range.first,
      lastDay: range.last,
      resources: RESOURCES.map(({ name }) => {
        const own = rows.filter(({ resource }) => resource === name)
        return resourceStatus(name, own, windows?.get(name))
      }),
      /** The entity resources that were ever requested. */
      entities: entityStatus(entityRows(orgId, ledger)),
    }
  })
  const isAlive = lease?.state === 'alive'
  const learned = [...(await learnedLimits.readAll(dataFolder))].filter(
    ([name]) => names?.includes(name) ?? true,
  )
  return {
    dataFolder,
    published: await published(dataFolder),
    running: isAlive ? lease : null,
    /** The lease that the next run takes over. */
    left: isAlive ? null : lease,
    /** The sums over all these organisations. */
    sum: RESOURCES.map(({ name }) => sumOf(name, organisations)),
    organisations,
    learned: learned.map(([name, each]) => limitOf(name, each)),
  }
}

/** Each opens a ledger, and lists the files of its days. */
export const ORGANISATIONS_AT_ONCE = 4

function sumOf(
  resource: string,
  organisations: readonly { readonly resources: readonly ResourceStatus[] }[],
) {
  const own = organisations.flatMap((each) =>
    each.resources.filter((status) => status.resource === resource),
  )
  const total = (count: 'landed' | 'empty' | 'failed' | 'missing' | 'settled'): number =>
    own.reduce((sum, each) => sum + each[count], 0)
  const days = own.flatMap((each) => each.latestDay ?? []).sort()
  return {
    resource,
    landed: total('landed'),
    empty: total('empty'),
    failed: total('failed'),
    missing: total('missing'),
    settled: total('settled'),
    latestDay: days.at(-1) ?? null,
  }
}

function limitOf(organisation: string, { limit, concurrency }: Learned) {
  return {
    /** Its name in the configuration. */
    organisation,
    /** Requests a second; null before the first refusal. */
    rate: limit?.rate ?? null,
    /** Requests at once after a rest. */
    burst: limit?.burst ?? null,
    source: limit?.source ?? null,
    measuredAt: limit === null ? null : new Date(limit.measuredAt).toISOString(),
    /** Requests in flight. */
    concurrency,
  }
}

function resourceStatus(
  resource: string,
  rows: readonly IntervalRow[],
  window: WindowSize | undefined,
) {
  return {
    resource,
    landed: countOf(rows, 'landed'),
    empty: countOf(rows, 'empty'),
    failed: countOf(rows, 'failed'),
    missing: countOf(rows, 'missing'),
    settled: rows.filter((row) => row.isSettled).length,
    latestDay: latestDay(rows),
    gaps: gapsOf(rows),
    /** Days that came back much smaller; the next run rechecks them. */
    suspects: rows.filter(({ isSuspect }) => isSuspect).map(({ day }) => day),
    /** The learned window size; null if no window was refused for its width. */
    window:
      window === undefined
        ? null
        : { maxDays: window.maxDays, learntAt: new Date(window.learntAt).toISOString() },
  }
}

function entityStatus(rows: readonly IntervalRow[]) {
  return [...new Set(rows.map(({ resource }) => resource))].map((resource) => {
    const own = rows.filter((row) => row.resource === resource)
    return {
      resource,
      /** Days on which something new landed. */
      landed: countOf(own, 'landed'),
      /** The last fetch, even without anything new. */
      latestDay: latestDay(own),
      /** Nights whose snapshot was missed and cannot be recovered. */
      missed: own.filter(({ isRecoverable }) => !isRecoverable).map(({ day }) => day),
      /** Why the last request failed; null if it did not. */
      error: own.at(-1)?.error ?? null,
    }
  })
}

function countOf(rows: readonly IntervalRow[], status: IntervalRow['status']): number {
  return rows.filter((row) => row.status === status).length
}

/** The latest day that the platform answered for; null before the first. */
function latestDay(rows: readonly IntervalRow[]): IntervalRow['day'] | null {
  return rows.findLast(({ status }) => status === 'landed' || status === 'empty')?.day ?? null
}

/** Days that failed in the same way are one gap, with the error of the first. */
function gapsOf(rows: readonly IntervalRow[]): Gap[] {
  const gaps: Gap[] = []
  let lastPattern: string | null = null
  for (const { status, day, error, requestId } of rows) {
    if (status !== 'failed' && status !== 'missing') continue
    const pattern = error === null ? null : errorPattern(error, requestId)
    const last = gaps.at(-1)
    const joins =
      last?.status === status && addDays(last.last, 1) === day && lastPattern === pattern
    if (last !== undefined && joins) gaps.splice(-1, 1, { ...last, last: day, days: last.days + 1 })
    else gaps.push({ first: day, last: day, status, days: 1, error })
    lastPattern = pattern
  }
  return gaps
}

async function published(dataFolder: string) {
  const path = warehousePath(dataFolder)
  const file = await orIfMissing(stat(path), undefined)
  if (file === undefined) return null
  return {
    path,
    /** When, ISO 8601, UTC. */
    at: file.mtime.toISOString(),
    bytes: file.size,
    /** The point in time whose data it holds, ISO 8601, UTC; null: all that had landed. */
    asOf: (await presentBuild(dataFolder))?.asOf ?? null,
    /** Set while an earlier file is published; the next build returns to the latest data. */
    rollback: await rollbackInForce(dataFolder),
  }
}

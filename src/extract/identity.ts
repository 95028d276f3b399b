import { addDays, dayOf, HISTORY_START, type Day, type DayRange, startOf } from '../lib/days.ts'
import { isPlausibleOrgId, type KnownOrganisation } from '../lake/organisations.ts'
import { UsageError } from '../lib/errors.ts'
import { ApiError, type AnalyticsResponse, type ApiClient } from '../client/index.ts'
import { warner, type World } from '../lib/world.ts'
import { isOfResource } from './context.ts'

/** What the first response of a run tells about the organisation and the clock. */
export interface Identity extends PlatformClock {
  /** Null when the platform did not name the organisation. */
  readonly orgId: string | null
}

/**
 * Sends one small request before planning to learn whether the credential is valid, which
 * organisation it belongs to, and which day it is at the platform (see `platformClock`).
 *
 * @param known what an earlier run saved.
 * @throws ClockError if the current day cannot be determined, OrganisationError for an
 *   organisation with an implausible id.
 */
export async function identifyOrganisation(
  client: ApiClient,
  world: World,
  known: KnownOrganisation | undefined,
): Promise<Identity> {
  const { orgId, serverTime } = await firstResponse(client, world, known !== undefined)
  if (orgId !== null && !isPlausibleOrgId(orgId)) throw implausible(orgId)
  return { orgId, ...platformClock(serverTime, world.now(), known?.lastDay) }
}

/** Tried in order while the response is an error: the next one may be served. */
const FIRST_ENDPOINTS = ['activity', 'tokens', 'tools'] as const

/** @throws the first error where every one of a few endpoints answers with one. */
async function firstResponse(
  client: ApiClient,
  world: World,
  isKnown: boolean,
): Promise<AnalyticsResponse> {
  let first: unknown
  for (const endpoint of FIRST_ENDPOINTS) {
    const ask = (day: Day): Promise<AnalyticsResponse> =>
      client.ask(endpoint, { range: { first: day, last: day } })
    try {
      return await ask(HISTORY_START).catch((error: unknown) => {
        // The platform may drop its first days some day. Then a recent day is requested: without an
        // response, the owner of this credential stays unknown.
        if (!(error instanceof ApiError) || error.status !== 400) throw error
        return ask(addDays(dayOf(world.now()), -2))
      })
    } catch (error) {
      if (!isOfResource(error) || (!isKnown && isWrongAddress(error))) throw error
      first ??= error
    }
  }
  throw first
}

const HINT = 'Is AGENT_BASE_URL the platform’s public API host? Nothing else was requested.'

/**
 * The first request uses an endpoint that every such platform has: a 404 or a redirect comes
 * from another server, unless the platform answered there before.
 */
export function isWrongAddress(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 404 || error.status < 400)
}

export function wrongAddress(error: ApiError): UsageError {
  return new UsageError(error.message, { hint: HINT, cause: error })
}

/** Characters of an implausible id that are shown. */
const SHOWN = 40

/**
 * An implausible organisation id (ids become folder names and are displayed), another one than
 * before, or that of another name.
 */
export class OrganisationError extends UsageError {}

function implausible(orgId: string): OrganisationError {
  const shown = JSON.stringify(orgId.slice(0, SHOWN)).replaceAll(/[^\x20-\x7e]/gu, '?')
  const bytes = Buffer.byteLength(orgId)
  return new OrganisationError(
    `the platform names the organisation ${shown} (${bytes} bytes), which is not a valid organisation id`,
    { hint: HINT },
  )
}

/** Prevents mixing the histories of two organisations in one folder under one name. */
export function organisationMismatch(
  organisation: string,
  orgId: string,
  known: string | null,
): OrganisationError {
  return new OrganisationError(
    `the credential of '${organisation}' belongs to the organisation '${orgId}', but the data folder holds '${known}' under that name`,
    { hint: 'List it under another name in agent-warehouse.yaml, or use another data folder.' },
  )
}

/** The configured name that each organisation is requested under, by its id. */
export type Owners = Map<string, string>

/**
 * Reserves an organisation for one configured name: two credentials of one organisation would
 * write one ledger at the same time. Returns the problem if another name has it.
 */
export function claimOrganisation(
  owners: Owners,
  orgId: string,
  name: string,
): OrganisationError | null {
  const owner = owners.get(orgId) ?? name
  owners.set(orgId, owner)
  if (owner === name) return null
  return new OrganisationError(
    `the credential of '${name}' belongs to the organisation '${orgId}', which is already configured as '${owner}'`,
    { hint: `Give '${name}' a credential of its own organisation, or remove one of the two.` },
  )
}

export const TOLERATED_SKEW_MS = 5 * 60_000

/** Warns when this machine's clock is off, and when days were named that are not available. */
export function warnOfClockAndRange(
  identity: Identity,
  { first, last }: Partial<DayRange> = {},
  world: World,
): void {
  const { today, skewMs } = identity
  const warn = warner(world)
  if (Math.abs(skewMs) >= TOLERATED_SKEW_MS) {
    const skew = skewText(identity)
    warn(
      `this machine's clock is ${skew} the platform's, where it is ${today}; the platform's clock is used`,
    )
  }
  if (first !== undefined && first < HISTORY_START)
    warn(`the platform's history begins ${HISTORY_START}`)
  if ([first, last].some((day) => day !== undefined && day >= today))
    warn(`today is ${today} by the platform's clock: only earlier days can be requested`)
}

/** `7 minutes behind`, `12 days ahead of`. */
export function skewText({ skewMs }: PlatformClock): string {
  const seconds = Math.round(Math.abs(skewMs) / 1000)
  const [count, unit] =
    seconds < 120
      ? [seconds, 's']
      : seconds < 2 * 86_400
        ? [Math.round(seconds / 60), 'minutes']
        : [Math.round(seconds / 86_400), 'days']
  return `${count} ${unit} ${skewMs > 0 ? 'behind' : 'ahead of'}`
}

/** The platform's clock, as used by a run. */
interface PlatformClock {
  /** The platform's clock minus this machine's, in milliseconds. */
  readonly skewMs: number
  /** The current UTC day at the platform. */
  readonly today: Day
}

/** The current day is unknown: the clock of this machine or of the platform is wrong. */
export class ClockError extends UsageError {}

/** `Date` has whole seconds and arrives late: a smaller difference is ignored. */
const PRECISION_MS = 2_000

/** A clock set to local time is up to 14 hours off; one more than a day ahead is wrong. */
const FARTHEST_AHEAD_MS = 25 * 3_600_000

const WRONG_DATE = 'the platform or a proxy sends a wrong Date header'
const WAS_AHEAD =
  'the clock was ahead in an earlier run: remove the organisation from state/organisations.json'

/**
 * The platform's clock decides which days are over, within bounds: it may not be
 * before the history begins, nor more than a day before what it was in an earlier
 * run, nor more than 25 hours ahead of this machine's. A platform that is behind is
 * accepted within these bounds: days not requested today are requested later, but days that
 * are not over must never land. Without a `Date`, this machine's clock is used, within the
 * same bounds.
 *
 * @param served the platform's `Date`; null if it sent none, NaN if it is not a date.
 * @param lastDay the last day that was over in an earlier run.
 * @throws ClockError for a clock beyond them.
 */
export function platformClock(
  served: number | null,
  now: number,
  lastDay: Day | undefined,
): PlatformClock {
  const platformTime = served ?? now
  const statement = statementOf(served)
  const refuse = (why: string, otherwise = WRONG_DATE): ClockError =>
    new ClockError(`this machine's clock says ${timeOf(now)}, ${statement}: ${why}`, {
      hint: `Nothing else was requested. Synchronise this machine’s clock. If it is correct, ${otherwise}.`,
    })
  if (Number.isNaN(platformTime)) throw refuse('it is unknown which days are over there')
  if (lastDay !== undefined && platformTime < startOf(lastDay)) {
    const why = `that is before ${lastDay}, the day before that of an earlier run (state/organisations.json)`
    throw refuse(why, served === null ? WAS_AHEAD : `${WRONG_DATE}, or ${WAS_AHEAD}`)
  }
  if (platformTime < startOf(HISTORY_START))
    throw refuse(`that is before ${HISTORY_START}, the first day of the history`)
  if (platformTime - now > FARTHEST_AHEAD_MS) throw refuse('the platform is more than a day ahead')
  const skewMs = Math.abs(platformTime - now) < PRECISION_MS ? 0 : platformTime - now
  return { skewMs, today: dayOf(platformTime) }
}

function statementOf(served: number | null): string {
  if (served === null) return 'the platform sent no Date'
  if (Number.isNaN(served)) return 'the platform sends a Date that is not a valid date'
  return `the platform says ${timeOf(served)}`
}

function timeOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}

import { dayOf, type Day } from '../../lib/days.ts'
import type { EntityResource } from '../../lib/resource-names.ts'
import type { World } from '../../lib/world.ts'
import type { PlatformClient, Served } from '../../client/index.ts'
import type { Redaction } from '../../lib/secrets/redaction.ts'
import type { IntervalRecorder } from '../land/interval-recorder.ts'
import type { RawWriter } from '../land/raw-writer.ts'
import type { PageOrigin, RawRow } from '../land/row-lines.ts'

/** Which entity resources a run is to ask for. */
export interface EntitySelection {
  readonly resources: readonly EntityResource[]
  /** Sessions to ask for whether they are due or not. */
  readonly sessions: readonly string[]
  readonly messages: readonly MessageId[]
  /** Ask for the whole history, known or not. */
  readonly refetch: boolean
  /** Whose the hook events are, see `organisationOfHooks`. */
  readonly organisationOfHookEvents: string | null
  /** What the placeholders of secrets are made with; null: a key that the data folder holds. */
  readonly redactionKey?: string | null
}

export interface MessageId {
  readonly sessionId: string
  readonly messageId: string
}

/** What landing needs, with or without the network. */
export interface LandingContext {
  readonly dataFolder: string
  readonly orgId: string
  readonly runId: string
  readonly world: World
  /** The platform's clock less this machine's, milliseconds. */
  readonly skewMs: number
  readonly writer: RawWriter
  readonly recorder: IntervalRecorder
  readonly redaction: Redaction
}

/** What every entity resource is fetched with. */
export interface EntityContext extends LandingContext {
  readonly client: PlatformClient
  readonly selection: EntitySelection
  /** Does the work for every item, some at once; the error that must stop the run is thrown. */
  readonly forEach: <T>(items: readonly T[], work: (item: T) => Promise<void>) => Promise<void>
}

/** Milliseconds since the epoch, by the platform's clock. */
export function nowThere({ world, skewMs }: LandingContext): number {
  return world.now() + skewMs
}

/** The day that what is fetched now belongs to. */
export function today(context: LandingContext): Day {
  return dayOf(nowThere(context))
}

/** The items of an answer as rows of the lake, without their secrets. */
export function rowsOf(
  context: LandingContext,
  resource: EntityResource,
  served: Served<unknown>,
  page = 1,
): RawRow[] {
  const origin: PageOrigin = {
    page,
    fetchedAt: nowThere(context),
    request: served.request,
    requestId: served.requestId,
    runId: context.runId,
  }
  return served.items.map(({ text }, ordinal) => ({
    item: context.redaction.item(resource, text),
    ordinal,
    origin,
  }))
}

/** Where a day without rows comes from. */
export function originNow(
  context: LandingContext,
  request: string,
  requestId: string | null = null,
): PageOrigin {
  return { page: 1, fetchedAt: nowThere(context), request, requestId, runId: context.runId }
}

/** The path that a row was asked for at, without the query. */
export function pathOf({ origin }: RawRow): string {
  return new URL(origin.request, 'http://platform').pathname
}

/** Rows of requests that went out together, whichever was answered first. */
export function inOrderOfRequests(rows: readonly RawRow[]): RawRow[] {
  return rows.toSorted((a, b) => (a.origin.request < b.origin.request ? -1 : 1))
}

import { dayOf, type Day } from '../../lib/days.ts'
import type { EntityResource } from '../../lake/resources.ts'
import type { Redaction } from '../../lib/secrets/redaction.ts'
import type { PlatformClient } from '../../client/index.ts'
import { nowThere, type FetchContext, type LandingContext } from '../context.ts'

/** Which entity resources a run is to ask for. */
export interface EntitySelection {
  readonly resources: readonly EntityResource[]
  /** Sessions to ask for whether they are due or not. */
  readonly sessions: readonly string[]
  readonly messages: readonly MessageId[]
  /** Ask for the whole history, known or not. */
  readonly refetch: boolean
  /** Whose the hook events are, see `organisationOf`. */
  readonly organisationOfHookEvents: string | null
  /** What the placeholders of secrets are made with; null: a key that the data folder holds. */
  readonly redactionKey?: string | null
}

export interface MessageId {
  readonly sessionId: string
  readonly messageId: string
}

/** What entities are landed with, with or without the network. */
export interface EntityLandingContext extends LandingContext {
  readonly redaction: Redaction
}

/** What every entity resource is fetched with. */
export interface EntityContext extends EntityLandingContext {
  readonly client: PlatformClient
  readonly selection: EntitySelection
  readonly forEach: FetchContext['forEach']
}

/** The day that what is fetched now belongs to. */
export function today(context: LandingContext): Day {
  return dayOf(nowThere(context))
}

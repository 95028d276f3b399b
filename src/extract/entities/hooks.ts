import { basename } from 'node:path'
import { dayOf, type Day } from '../../lib/days.ts'
import { fieldOf } from '../../client/index.ts'
import { knownOrganisations } from '../../lake/ledger.ts'
import { readOrganisations } from '../../lake/organisations.ts'
import { readSpool, removeFromSpool, type SpooledEvent } from '../../lake/hook-spool.ts'
import type { PageOrigin, RawRow } from '../land/row-lines.ts'
import { nowThere, originNow, type EntitySelection, type LandingContext } from './context.ts'
import { addToDay } from './land-rows.ts'

/**
 * The organisation that hook events are of: the one that is configured, by its
 * name or its id; else the only one that is known; else `default`.
 */
export async function organisationOf(
  dataFolder: string,
  configured: string | null,
): Promise<string> {
  const named = await readOrganisations(dataFolder)
  if (configured !== null) return named.get(configured)?.orgId ?? configured
  const ids = [...named.values()].map(({ orgId }) => orgId)
  const all = new Set([...ids, ...(await knownOrganisations(dataFolder))])
  const [only] = all
  return only !== undefined && all.size === 1 ? only : 'default'
}

/** The selection, without hook events where they are another organisation's. */
export async function ownHooks(
  selection: EntitySelection,
  dataFolder: string,
  orgId: string,
): Promise<EntitySelection> {
  if ((await organisationOf(dataFolder, selection.organisationOfHookEvents)) === orgId)
    return selection
  return { ...selection, resources: selection.resources.filter((name) => name !== RESOURCE) }
}

const RESOURCE = 'hook_events'

/** Events that are landed at once: each day takes all its rows in memory. */
const EVENTS_AT_ONCE = 10_000

/**
 * Lands the recorded hook events on the days they were recorded, then empties
 * the buffer of them. An event is there once, whatever crashes in between.
 *
 * @returns how many were landed.
 */
export async function landHookEvents(context: LandingContext): Promise<number> {
  let landed = 0
  for (;;) {
    const events = await readSpool(context.dataFolder, EVENTS_AT_ONCE)
    if (events.length === 0) return landed
    const origin = originNow(context, 'hooks')
    for (const [day, rows] of rowsByDay(context, events, origin)) {
      await addToDay(context, RESOURCE, day, rows, eventOf, origin)
    }
    await removeFromSpool(context.dataFolder, events)
    landed += events.length
  }
}

function rowsByDay(
  context: LandingContext,
  events: readonly SpooledEvent[],
  origin: PageOrigin,
): ReadonlyMap<Day, RawRow[]> {
  const days = new Map<Day, RawRow[]>()
  for (const [ordinal, event] of events.entries()) {
    const item = context.redaction.item(RESOURCE, event.text.trim())
    const day = dayOf(event.recordedAt ?? nowThere(context))
    const row = { item, ordinal, origin: { ...origin, request: `hooks/${basename(event.file)}` } }
    const rows = days.get(day)
    if (rows === undefined) days.set(day, [row])
    else rows.push(row)
  }
  return days
}

function eventOf({ item }: RawRow): string {
  const id = fieldOf(JSON.parse(item), 'event_id')
  return typeof id === 'string' && id !== '' ? id : item
}

import { basename } from 'node:path'
import { dayOf } from '../../lib/days.ts'
import { grouped } from '../../lib/grouped.ts'
import { openRedaction } from '../../lib/secrets/redaction.ts'
import { counted } from '../../lib/text.ts'
import { warner } from '../../lib/world.ts'
import { knownOrganisations, LedgerFile } from '../../lake/ledger.ts'
import { readOrganisations } from '../../lake/organisations.ts'
import { deniedInSpool, readSpool, removeFromSpool, spoolFolder } from '../../lake/hook-spool.ts'
import { originOf } from '../context.ts'
import { IntervalRecorder } from '../land/interval-recorder.ts'
import { LandingDatabase } from '../land/raw-writer.ts'
import { quarantineDamagedEntities } from '../land/verify-versions.ts'
import { addToDay, keyIn, type EntityLandingContext, type EntitySelection } from './context.ts'

type HookOwner = Pick<EntitySelection, 'organisationOfHookEvents' | 'onlyOrganisation'>

/**
 * The organisation that owns the hook events: the configured one, by name or id; else that of the
 * only configured name; else the only known one; else `default`. Undefined if the configured one is
 * not known, or it is not known which of several is meant: then the events wait, because a misspelt
 * name must not become an organisation.
 */
async function organisationOf(
  dataFolder: string,
  { organisationOfHookEvents: configured, onlyOrganisation }: HookOwner,
): Promise<string | undefined> {
  const named = await readOrganisations(dataFolder)
  const ids = [...named.values()].map(({ orgId }) => orgId)
  const all = new Set([...ids, ...(await knownOrganisations(dataFolder))])
  if (configured !== null)
    return named.get(configured)?.orgId ?? (all.has(configured) ? configured : undefined)
  const own = onlyOrganisation === undefined ? undefined : named.get(onlyOrganisation)?.orgId
  const [only = 'default', ...others] = all
  return own ?? (others.length === 0 ? only : undefined)
}

/**
 * The selection, minus hook events if they belong to another organisation. `orgId`: null for one
 * that was never loaded, of which only the configured `name` is known.
 */
export async function ownHooks(
  selection: EntitySelection,
  dataFolder: string,
  { orgId, name }: { readonly orgId: string | null; readonly name: string },
): Promise<EntitySelection> {
  const { organisationOfHookEvents: configured, resources } = selection
  const isOwn =
    orgId === null
      ? (configured ?? name) === name
      : (await organisationOf(dataFolder, selection)) === orgId
  if (isOwn) return selection
  return { ...selection, resources: resources.filter((resource) => resource !== RESOURCE) }
}

const RESOURCE = 'hook_events'

/** Events landed per pass: landing a day loads all of its rows into memory. */
const EVENTS_AT_ONCE = 10_000

/**
 * Lands the recorded hook events under the days they were recorded on, then removes them from
 * the spool. A crash in between duplicates no event.
 */
export async function landHookEvents(context: EntityLandingContext): Promise<void> {
  const { dataFolder, redaction } = context
  for (;;) {
    const events = await readSpool(dataFolder, EVENTS_AT_ONCE)
    if (events.length === 0) return
    const origin = originOf(context, { request: 'hooks', requestId: null })
    const days = grouped(events.entries(), ([, { recordedAt }]) => dayOf(recordedAt))
    for (const [day, recorded] of days) {
      const rows = recorded.map(([ordinal, { file, text }]) => ({
        item: redaction.item(RESOURCE, text.trim()),
        ordinal,
        origin: { ...origin, request: `hooks/${basename(file)}` },
      }))
      await addToDay(context, RESOURCE, day, rows, keyIn('event_id'), origin)
    }
    await removeFromSpool(dataFolder, events)
  }
}

type SpoolOptions = HookOwner &
  Pick<EntitySelection, 'redactionKey'> &
  Pick<EntityLandingContext, 'dataFolder' | 'runId' | 'world'>

/** Lands the recorded hook events without the network. Does nothing if there are none. */
export async function landSpool(options: SpoolOptions): Promise<void> {
  const { dataFolder, runId, world, redactionKey } = options
  const warn = warner(world)
  const denied = await deniedInSpool(dataFolder)
  if (denied > 0) {
    const who = 'the agent of another user has recorded them, and this user may not read them'
    warn(`${counted(denied, 'hook event')} in ${spoolFolder(dataFolder)} cannot be loaded: ${who}`)
  }
  if ((await readSpool(dataFolder, 1)).length === 0) return
  const orgId = await organisationOf(dataFolder, options)
  if (orgId === undefined) {
    const loaded = [...(await readOrganisations(dataFolder)).keys()].join(', ')
    const given = options.organisationOfHookEvents ?? ''
    const is = given === '' ? 'not set' : `'${given}'`
    warn(
      `hook events wait: hooks.organisation must name an organisation that has been loaded (${loaded === '' ? 'none yet' : loaded}), and is ${is}`,
    )
    return
  }
  const file = await LedgerFile.open(dataFolder, orgId, warn)
  await quarantineDamagedEntities(file)
  const redaction = await openRedaction(dataFolder, redactionKey)
  const confirmation = { plannedAt: world.now(), isForced: false }
  const recorder = new IntervalRecorder(file, world, confirmation)
  await using database = new LandingDatabase(dataFolder)
  const lake = { dataFolder, orgId, ledger: file.intervals, database, warn }
  await landHookEvents({ ...lake, runId, world, skewMs: 0, recorder, redaction })
}

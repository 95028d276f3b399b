import { ENTITY_RESOURCES, type EntityResource } from '../../src/lake/resources.ts'
import type { EntitySelection } from '../../src/extract/entities/context.ts'
import type { Emulator, EmulatorOptions } from '../../src/emulator/emulator.ts'
import { testWorld } from '../support/helpers.ts'
import { ledgerOf, readLake, syncFrom, type Sync } from './platform.ts'
import { standIn } from '../support/stand-in.ts'

export const NIGHT = Date.parse('2026-03-10T02:00:00Z')
export const DAY = 86_400_000

/** The stand-in platform, with a clock that the test sets. */
export interface Platform extends Emulator {
  readonly at: (now: number) => void
}

export async function platform(options: Partial<EmulatorOptions> = {}): Promise<Platform> {
  let now = NIGHT
  const emulator = await standIn({ now: () => now, users: 5, ...options })
  return Object.assign(emulator, {
    at: (time: number) => {
      now = time
    },
  })
}

export interface Night {
  readonly now?: number
  readonly only?: readonly EntityResource[]
  readonly entities?: Partial<EntitySelection>
  readonly organisation?: string
}

/** One sync of entity resources; `requests` are the requests for them. */
export async function night(
  { url, appUrl, keys, at, requests }: Platform,
  data: string,
  { now = NIGHT, only = ENTITY_RESOURCES, entities = {}, organisation = 'default' }: Night = {},
): Promise<Sync & { readonly requests: readonly string[]; readonly problems: readonly string[] }> {
  at(now)
  const asked = requests.length
  const done = await syncFrom(url, data, {
    appUrl,
    key: keys.manager,
    only: [],
    world: testWorld(now),
    runId: 'run',
    organisation,
    entities: { resources: only, ...entities },
  })
  const paths = requests.slice(asked).map(({ path }) => path)
  const problems = done.world.events.flatMap((event) => {
    if (event.type === 'warning') return [event.message]
    return event.type === 'interval.failed' ? [`${event.resource}: ${event.error}`] : []
  })
  return { ...done, requests: paths.filter((path) => !path.includes('/analytics/')), problems }
}

/** The items of a resource in the lake, by day, as they are in the current versions. */
export async function landed(
  data: string,
  resource: string,
  orgId = 'org_demo',
): Promise<Record<string, string[]>> {
  const days: Record<string, string[]> = {}
  for (const { resource: of, day, file } of (await ledgerOf(data, orgId)).values()) {
    if (of !== resource || file === null) continue
    const folder = `{lake}/raw/${resource}/org=${orgId}/date=${day}`
    const rows = await readLake(data, `select item from '${folder}/${file}'`)
    days[day] = rows.map(({ item }) => (typeof item === 'string' ? item : '')).sort()
  }
  return days
}

/** The items of every entity resource that has landed, to compare lakes. */
export async function wholeLake(data: string): Promise<Record<string, Record<string, string[]>>> {
  const lake: Record<string, Record<string, string[]>> = {}
  for (const resource of ENTITY_RESOURCES) lake[resource] = await landed(data, resource)
  return lake
}

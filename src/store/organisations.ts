import { join } from 'node:path'
import { isDay, type Day } from '../core/days.ts'
import { readIfThere, writeAtomic } from './files.ts'

/** Which organisation of the platform a name in the configuration turned out to be. */
export interface KnownOrganisation {
  readonly orgId: string
  /** The last day that a run has planned for, by the platform's clock. */
  readonly lastDay: Day
  /** The platform's clock less this machine's, milliseconds, as last seen. */
  readonly skewMs: number
}

/** The organisations met so far, by their name in the configuration. */
export async function readOrganisations(
  dataFolder: string,
): Promise<ReadonlyMap<string, KnownOrganisation>> {
  const text = await readIfThere(pathIn(dataFolder))
  const known = new Map<string, KnownOrganisation>()
  const content: unknown = text === undefined ? {} : JSON.parse(text)
  for (const [name, value] of Object.entries(content ?? {})) {
    if (isKnown(value)) known.set(name, value)
  }
  return known
}

/** Remembers an organisation, so that a plan can be made before the platform is asked. */
export async function rememberOrganisation(
  dataFolder: string,
  name: string,
  organisation: KnownOrganisation,
): Promise<void> {
  const known = new Map(await readOrganisations(dataFolder))
  known.set(name, organisation)
  await writeAtomic(pathIn(dataFolder), `${JSON.stringify(Object.fromEntries(known), null, 2)}\n`)
}

/** The last day any run planned for in the organisation. */
export function lastPlannedDay(
  known: ReadonlyMap<string, KnownOrganisation>,
  orgId: string,
): Day | undefined {
  const days = [...known.values()]
    .filter((each) => each.orgId === orgId)
    .map((each) => each.lastDay)
  return days.sort().at(-1)
}

function isKnown(value: unknown): value is KnownOrganisation {
  if (typeof value !== 'object' || value === null) return false
  if (!('orgId' in value) || !('lastDay' in value)) return false
  return (
    typeof value.orgId === 'string' && typeof value.lastDay === 'string' && isDay(value.lastDay)
  )
}

function pathIn(dataFolder: string): string {
  return join(dataFolder, 'state', 'organisations.json')
}

import { join } from 'node:path'
import { isDay, type Day } from '../lib/days.ts'
import { pathSegment, readJson, writeAtomic } from '../lib/files.ts'

/** Which organisation of the platform a name in the configuration turned out to be. */
export interface KnownOrganisation {
  readonly orgId: string
  /** What the platform calls it; null while it never named it, and the configuration's name counts. */
  readonly servedAs: string | null
  /** The last day that a run has planned for, by the platform's clock. */
  readonly lastDay: Day
  /** The platform's clock less this machine's, milliseconds, as last seen. */
  readonly skewMs: number
}

/** Bytes of an id as a part of a path, at most: with what is put around it, a file name holds 255. */
const LONGEST_SEGMENT = 200

/** Control and format characters, separators of lines, halves of a character. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u

/**
 * Whether an id may be an organisation's: printable, and short enough for the name of
 * a folder. The one place that says so.
 */
export function isPlausibleOrgId(orgId: string): boolean {
  const isPrintable = orgId.trim() !== '' && !UNPRINTABLE.test(orgId)
  return isPrintable && pathSegment(orgId).length <= LONGEST_SEGMENT
}

/** The organisations met so far, by their name in the configuration. */
export async function readOrganisations(
  dataFolder: string,
  warn: (message: string) => void = () => undefined,
): Promise<ReadonlyMap<string, KnownOrganisation>> {
  const content = await readJson(pathIn(dataFolder), warn)
  const known = new Map<string, KnownOrganisation>()
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
  warn: (message: string) => void,
): Promise<void> {
  const known = new Map(await readOrganisations(dataFolder, warn))
  known.set(name, organisation)
  await writeAtomic(pathIn(dataFolder), `${JSON.stringify(Object.fromEntries(known), null, 2)}\n`)
}

/** False when the platform names another organisation than it did before: the credential of another organisation. */
export function isSame(known: KnownOrganisation | undefined, named: string | null): boolean {
  return (
    named === null || known === undefined || known.servedAs === null || known.servedAs === named
  )
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
  if (!('orgId' in value) || !('servedAs' in value)) return false
  if (!('lastDay' in value) || !('skewMs' in value)) return false
  const { orgId, servedAs, lastDay, skewMs } = value
  return (
    typeof orgId === 'string' &&
    (typeof servedAs === 'string' || servedAs === null) &&
    typeof lastDay === 'string' &&
    isDay(lastDay) &&
    Number.isFinite(skewMs)
  )
}

function pathIn(dataFolder: string): string {
  return join(dataFolder, 'state', 'organisations.json')
}

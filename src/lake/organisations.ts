import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { dayShape } from './ledger.ts'
import type { Day } from '../lib/days.ts'
import { pathSegment, readIfThere, readJson, writeAtomic } from '../lib/files.ts'
import { grouped } from '../lib/grouped.ts'
import type { Warn } from '../lib/world.ts'

const knownOrganisation = z.object({
  orgId: z.string(),
  /** The id given by the platform; null if it gave none, and the configured name is used. */
  servedAs: z.string().nullable(),
  /** The last day that a run has planned for, by the platform's clock. */
  lastDay: dayShape,
  /** The platform's clock minus this machine's, in milliseconds, as last seen. */
  skewMs: z.number(),
})

/** The platform's organisation behind a name in the configuration. */
export type KnownOrganisation = Readonly<z.infer<typeof knownOrganisation>>

/** Maximum bytes of an id in a path: with prefix and suffix, a file name may have 255. */
const LONGEST_SEGMENT = 200

/** Control and format characters, line separators and lone surrogates. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u

/** Whether an id may be an organisation's: printable, and short enough for the name of a folder. */
export function isPlausibleOrgId(orgId: string): boolean {
  const isPrintable = orgId.trim() !== '' && !UNPRINTABLE.test(orgId)
  return isPrintable && pathSegment(orgId).length <= LONGEST_SEGMENT
}

/** Cache of the parsed file, by its path: every organisation of a run asks for it. */
const lastRead = new Map<string, { readonly text: string; readonly known: Known }>()

/** By configured name. */
export type Known = ReadonlyMap<string, KnownOrganisation>

/** The known organisations, by their name in the configuration. */
export async function readOrganisations(
  dataFolder: string,
  warn: (message: string) => void = () => undefined,
): Promise<Known> {
  const path = pathIn(dataFolder)
  const text = (await readIfThere(path)) ?? '{}'
  const last = lastRead.get(path)
  if (last?.text === text) return last.known
  const content = await readJson(path, warn)
  const known = new Map<string, KnownOrganisation>()
  for (const [name, value] of Object.entries(content ?? {})) {
    const { data } = knownOrganisation.safeParse(value)
    if (data !== undefined) known.set(name, data)
  }
  if (content !== undefined) lastRead.set(path, { text, known })
  return known
}

/**
 * The known organisations of these configured names. If two of them have stood for one organisation,
 * as after a renaming, it is not known which one does now: the platform must be asked.
 */
export function ofNames(known: Known, names: readonly string[]): Known {
  const configured = new Set(names)
  const own = [...known].filter(([name]) => configured.has(name))
  const namesOf = grouped(own, ([, { orgId }]) => orgId)
  return new Map(own.filter(([, { orgId }]) => namesOf.get(orgId)?.length === 1))
}

/** The organisations to save in a file, and the running write. */
interface Saving {
  readonly due: Map<string, KnownOrganisation>
  done: Promise<void> | undefined
}

const saving = new Map<string, Saving>()

/**
 * Saves an organisation, so that a plan can be made without a request. Organisations that are
 * saved during a write share the next one.
 */
export async function rememberOrganisation(
  dataFolder: string,
  name: string,
  organisation: KnownOrganisation,
  warn: (message: string) => void,
): Promise<void> {
  const path = pathIn(dataFolder)
  const own = saving.get(path) ?? { due: new Map(), done: undefined }
  saving.set(path, own)
  own.due.set(name, organisation)
  await own.done?.catch(() => undefined) // the caller that began it gets its error
  own.done ??= save(dataFolder, own, warn).finally(() => {
    own.done = undefined
  })
  await own.done
}

async function save(dataFolder: string, { due }: Saving, warn: Warn): Promise<void> {
  const before = await readOrganisations(dataFolder, warn)
  const known = new Map([...before, ...due])
  due.clear()
  if (isDeepStrictEqual(before, known)) return
  await writeAtomic(pathIn(dataFolder), `${JSON.stringify(Object.fromEntries(known), null, 2)}\n`)
}

/**
 * False if the platform gives another id than before: the credential belongs to another
 * organisation.
 */
export function isSame(known: KnownOrganisation | undefined, named: string | null): boolean {
  return (
    named === null || known === undefined || known.servedAs === null || known.servedAs === named
  )
}

/** The last day that any run has planned for in the organisation. */
export function lastPlannedDay(
  known: ReadonlyMap<string, KnownOrganisation>,
  orgId: string,
): Day | undefined {
  const days = [...known.values()]
    .filter((each) => each.orgId === orgId)
    .map((each) => each.lastDay)
  return days.sort().at(-1)
}

function pathIn(dataFolder: string): string {
  return join(dataFolder, 'state', 'organisations.json')
}

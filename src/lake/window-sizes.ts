import { join } from 'node:path'
import { z } from 'zod'
import { pathSegment, readIfThere, writeAtomic } from '../lib/files.ts'

/** What is known of how wide a window of one resource may be. Widths are days, times milliseconds since the epoch. */
export interface WindowSize {
  /** The widest that was answered. */
  readonly maxDays: number
  /** The narrowest that was refused; null where none above `maxDays` is known. */
  readonly tooWide: number | null
  readonly learntAt: number
  /** When a wider one was last refused. */
  readonly probedAt: number
}

/** By resource. One that is not here was not asked since a window of any was refused for its width. */
export type KnownWindowSizes = ReadonlyMap<string, WindowSize>

const days = z.number().int().positive()
const fileContent = z.record(
  z.string(),
  z.object({
    maxDays: days,
    tooWide: days.nullable(),
    learntAt: z.number(),
    probedAt: z.number(),
  }),
)

/** The window sizes learned for an organisation. An unreadable file holds none: they are learned again. */
export async function readWindowSizes(
  dataFolder: string,
  orgId: string,
): Promise<KnownWindowSizes> {
  const text = await readIfThere(pathIn(dataFolder, orgId))
  return new Map(Object.entries(text === undefined ? {} : parsed(text)))
}

/** Replaces the caps, where they have changed. */
export async function writeWindowSizes(
  dataFolder: string,
  orgId: string,
  known: KnownWindowSizes,
  learned: KnownWindowSizes,
): Promise<void> {
  const text = textOf(learned)
  if (text !== textOf(known)) await writeAtomic(pathIn(dataFolder, orgId), text)
}

function textOf(caps: KnownWindowSizes): string {
  return `${JSON.stringify(Object.fromEntries(caps), null, 2)}\n`
}

function parsed(text: string): z.infer<typeof fileContent> {
  try {
    return fileContent.safeParse(JSON.parse(text)).data ?? {}
  } catch {
    return {}
  }
}

function pathIn(dataFolder: string, orgId: string): string {
  return join(dataFolder, 'state', 'windows', `${pathSegment(orgId)}.json`)
}

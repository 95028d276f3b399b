import { join } from 'node:path'
import { z } from 'zod'
import type { Learned } from '../lib/learned.ts'
import {
  fromPathSegment,
  listIfThere,
  pathSegment,
  readIfThere,
  writeAtomic,
} from '../lib/files.ts'

const stateSchema = z.object({
  limit: z
    .object({
      rate: z.number().positive(),
      burst: z.number().positive(),
      source: z.enum(['refusals', 'headers']),
      measured_at: z.iso.datetime(),
    })
    .nullable(),
  concurrency: z.number().int().positive(),
})

/** The limits learned for an organisation; undefined before the first run, or when unreadable. */
export async function readLearned(
  dataFolder: string,
  organisation: string,
): Promise<Learned | undefined> {
  const text = await readIfThere(pathOf(dataFolder, organisation))
  const state = stateSchema.safeParse(text === undefined ? undefined : parsed(text)).data
  if (state === undefined) return undefined
  const { limit, concurrency } = state
  if (limit === null) return { limit, concurrency }
  const { rate, burst, source, measured_at } = limit
  return { limit: { rate, burst, source, measuredAt: Date.parse(measured_at) }, concurrency }
}

/** Keeps what was learned for the next run. */
export async function writeLearned(
  dataFolder: string,
  organisation: string,
  { limit, concurrency }: Learned,
): Promise<void> {
  const state = {
    limit:
      limit === null
        ? null
        : {
            rate: rounded(limit.rate),
            burst: rounded(limit.burst),
            source: limit.source,
            measured_at: new Date(limit.measuredAt).toISOString(),
          },
    concurrency,
  }
  await writeAtomic(pathOf(dataFolder, organisation), `${JSON.stringify(state, null, 2)}\n`)
}

/** Of every organisation that has something, by its name in the configuration. */
export async function readAllLearned(dataFolder: string): Promise<ReadonlyMap<string, Learned>> {
  const all = new Map<string, Learned>()
  for (const { name } of await listIfThere(folderOf(dataFolder))) {
    if (!name.endsWith('.json')) continue
    const organisation = fromPathSegment(name.slice(0, -'.json'.length))
    const learned = await readLearned(dataFolder, organisation)
    if (learned !== undefined) all.set(organisation, learned)
  }
  return all
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function rounded(value: number): number {
  return Number(value.toPrecision(4))
}

function folderOf(dataFolder: string): string {
  return join(dataFolder, 'state', 'governor')
}

function pathOf(dataFolder: string, organisation: string): string {
  return join(folderOf(dataFolder), `${pathSegment(organisation)}.json`)
}

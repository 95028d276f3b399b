import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import {
  fromPathSegment,
  namesEnding,
  orIfMissing,
  pathSegment,
  readJson,
  writeAtomic,
} from '../lib/files.ts'
import type { Warn } from '../lib/world.ts'
import type { Learned, LearnedLimit } from '../lib/learned.ts'

/** State that a run saves for the next one, one file per organisation or day: `<data>/state/<folder>/<name>.json`. */
export function stateFile<T>(folder: string, schema: z.ZodType<T>, indent = 2) {
  const folderIn = (dataFolder: string): string => join(dataFolder, 'state', folder)
  const pathIn = (dataFolder: string, name: string): string =>
    join(folderIn(dataFolder), `${pathSegment(name)}.json`)
  const read = async (dataFolder: string, name: string, warn: Warn = () => undefined) =>
    schema.safeParse(await readJson(pathIn(dataFolder, name), warn)).data
  return {
    /** Undefined if the file is missing or unreadable: the next write replaces it. */
    read,
    /** The values of all organisations that have one. */
    readAll: async (dataFolder: string): Promise<ReadonlyMap<string, T>> => {
      const all = new Map<string, T>()
      for (const file of await namesEnding(folderIn(dataFolder), '.json')) {
        const name = fromPathSegment(file.slice(0, -'.json'.length))
        if (name === undefined) continue
        const value = await read(dataFolder, name)
        if (value !== undefined) all.set(name, value)
      }
      return all
    },
    /** Milliseconds since the epoch; 0 if there is no file. */
    writtenAt: async (dataFolder: string, name: string): Promise<number> =>
      (await orIfMissing(stat(pathIn(dataFolder, name)), undefined))?.mtimeMs ?? 0,
    write: async (dataFolder: string, name: string, value: T): Promise<void> => {
      const text = JSON.stringify(z.encode(schema, value), null, indent)
      await writeAtomic(pathIn(dataFolder, name), `${text}\n`)
    },
  }
}

export function mapOf<T>(value: z.ZodType<T, T>): z.ZodType<ReadonlyMap<string, T>> {
  return z.codec(z.record(z.string(), value), z.custom<ReadonlyMap<string, T>>(), {
    decode: (object) => new Map(Object.entries(object)),
    encode: (map) => Object.fromEntries(map),
  })
}

const limit = z.codec(
  z.object({
    rate: z.number().positive(),
    burst: z.number().positive(),
    source: z.enum(['refusals', 'headers']),
    measured_at: z.iso.datetime(),
  }),
  z.custom<LearnedLimit>(),
  {
    decode: ({ measured_at, ...rest }) => ({ ...rest, measuredAt: Date.parse(measured_at) }),
    encode: ({ rate, burst, source, measuredAt }) => ({
      rate: rounded(rate),
      burst: rounded(burst),
      source,
      measured_at: new Date(measuredAt).toISOString(),
    }),
  },
)

function rounded(value: number): number {
  return Number(value.toPrecision(4))
}

/** The limits learned for an organisation, by its name in the configuration. */
export const learnedLimits = stateFile<Learned>(
  'governor',
  z.object({ limit: limit.nullable(), concurrency: z.number().int().positive() }),
)

const days = z.number().int().positive()

/** Milliseconds since the epoch, as a `Date` can have them. */
const time = z.number().nonnegative().max(8.64e15)

const windowSize = z.object({
  /** The widest that was answered. */
  maxDays: days,
  /** The narrowest that was refused; null if none wider than `maxDays` is known. */
  tooWide: days.nullable(),
  learntAt: time,
  /** When a wider one was last refused. */
  probedAt: time,
})

/** The known window size of a resource, in days. Times are milliseconds since the epoch. */
export type WindowSize = Readonly<z.infer<typeof windowSize>>

/** By resource. Absent: not requested since a window of any was refused for its width. */
export type KnownWindowSizes = ReadonlyMap<string, WindowSize>

export const learnedSizes = stateFile<KnownWindowSizes>('windows', mapOf(windowSize))

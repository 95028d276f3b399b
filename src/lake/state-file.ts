import { join } from 'node:path'
import { z } from 'zod'
import { fromPathSegment, listIfThere, pathSegment, readJson, writeAtomic } from '../lib/files.ts'
import type { Warn } from '../lib/world.ts'

/** What a run leaves for the next one, in a file for each organisation. */
export interface StateFile<T> {
  /** Undefined where there is none, and where it cannot be read: it is written again. */
  readonly read: (dataFolder: string, name: string, warn?: Warn) => Promise<T | undefined>
  /** Of every organisation that has one. */
  readonly readAll: (dataFolder: string) => Promise<ReadonlyMap<string, T>>
  readonly write: (dataFolder: string, name: string, value: T) => Promise<void>
}

/** `<data>/state/<folder>/<name>.json`. */
export function stateFile<T>(folder: string, schema: z.ZodType<T>, indent = 2): StateFile<T> {
  const folderIn = (dataFolder: string): string => join(dataFolder, 'state', folder)
  const pathIn = (dataFolder: string, name: string): string =>
    join(folderIn(dataFolder), `${pathSegment(name)}.json`)
  const read: StateFile<T>['read'] = async (dataFolder, name, warn = () => undefined) =>
    schema.safeParse(await readJson(pathIn(dataFolder, name), warn)).data
  return {
    read,
    readAll: async (dataFolder) => {
      const all = new Map<string, T>()
      for (const file of await listIfThere(folderIn(dataFolder))) {
        if (!file.name.endsWith('.json')) continue
        const name = fromPathSegment(file.name.slice(0, -'.json'.length))
        const value = await read(dataFolder, name)
        if (value !== undefined) all.set(name, value)
      }
      return all
    },
    write: async (dataFolder, name, value) => {
      const text = JSON.stringify(z.encode(schema, value), null, indent)
      await writeAtomic(pathIn(dataFolder, name), `${text}\n`)
    },
  }
}

/** An object of values as a map of them. */
export function mapOf<T>(value: z.ZodType<T, T>): z.ZodType<ReadonlyMap<string, T>> {
  return z.codec(z.record(z.string(), value), z.custom<ReadonlyMap<string, T>>(), {
    decode: (object) => new Map(Object.entries(object)),
    encode: (map) => Object.fromEntries(map),
  })
}

import { z } from 'zod'
import { readJson, writeAtomic } from '../lib/files.ts'

const shape = z.record(z.string(), z.object({ created: z.array(z.string()) }))

/**
 * What `install` made in a settings file beside its commands, so that `uninstall`
 * takes that away and leaves what the file had before; null when nothing is known of it.
 */
export async function createdIn(path: string, settings: string): Promise<readonly string[] | null> {
  return (await read(path))[settings]?.created ?? null
}

/** Adds to what is known of the settings file; null forgets it. */
export async function noteCreated(
  path: string,
  settings: string,
  created: readonly string[] | null,
): Promise<void> {
  const { [settings]: before, ...others } = await read(path)
  const all = [...new Set([...(before?.created ?? []), ...(created ?? [])])]
  const next = created === null ? others : { ...others, [settings]: { created: all } }
  await writeAtomic(path, `${JSON.stringify(next, null, 2)}\n`)
}

async function read(path: string): Promise<z.infer<typeof shape>> {
  return shape.safeParse(await readJson(path, () => undefined)).data ?? {}
}

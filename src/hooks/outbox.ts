import { readdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { isMissing, listIfThere, removeFile, writeAtomic } from '../lib/files.ts'
import { HOOK_EVENTS } from './events.ts'
import type { HookFolders } from './folders.ts'

const shape = z.object({
  /** The same at every attempt, so that a receiver can tell a repetition. */
  id: z.string(),
  channel: z.string(),
  event_id: z.string(),
  event: z.enum(HOOK_EVENTS),
  /** ISO 8601. */
  recorded_at: z.string(),
  is_failure: z.boolean(),
  title: z.string(),
  text: z.string(),
  /** The event as it came, JSON text. */
  input: z.string(),
  /** From when on it is tried; milliseconds since the epoch. */
  queued_at: z.number(),
  attempts: z.number(),
  /** Not before; milliseconds since the epoch. */
  next_at: z.number(),
  /** Why the last attempt, or all of it, came to nothing. */
  error: z.string().nullable(),
})

/** One notification for one channel. */
export type Notification = z.output<typeof shape>

/** Of those that were given up the newest are kept. */
const KEPT_FAILED = 500

const ENDING = '.json'

function nameOf({ recorded_at: at, id }: Notification): string {
  return `${at.replaceAll(/[-:.]/g, '')}-${id}${ENDING}`
}

export async function putIntoOutbox(folders: HookFolders, item: Notification): Promise<void> {
  await writeAtomic(join(folders.outbox, nameOf(item)), `${JSON.stringify(item)}\n`)
}

export async function removeFromOutbox(folders: HookFolders, item: Notification): Promise<void> {
  await removeFile(join(folders.outbox, nameOf(item)))
}

/** Written there first: a crash between leaves it in both, and it is tried once more. */
export async function giveUp(folders: HookFolders, item: Notification): Promise<void> {
  await writeAtomic(join(folders.failed, nameOf(item)), `${JSON.stringify(item)}\n`)
  await removeFromOutbox(folders, item)
  const names = (await readdir(folders.failed)).filter(isItem).sort()
  for (const old of names.slice(0, -KEPT_FAILED)) await removeFile(join(folders.failed, old))
}

/** Those that were given up are to be delivered after all, from now on. */
export async function requeueFailed(folders: HookFolders, now: number): Promise<number> {
  const items = await readItems(folders.failed)
  for (const item of items) {
    const again = { ...item, queued_at: now, attempts: 0, next_at: now, error: null }
    await putIntoOutbox(folders, again)
    await removeFile(join(folders.failed, nameOf(item)))
  }
  return items.length
}

/** The notifications in `outbox` or `failed`, the oldest first. What is none is set aside. */
export async function readItems(folder: string): Promise<Notification[]> {
  const names = (await listIfThere(folder))
    .map(({ name }) => name)
    .filter(isItem)
    .sort()
  const items = await Promise.all(names.map((name) => readItem(join(folder, name))))
  return items.filter((item) => item !== undefined)
}

function isItem(name: string): boolean {
  return name.endsWith(ENDING) && !name.startsWith('.')
}

async function readItem(path: string): Promise<Notification | undefined> {
  try {
    return shape.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch (error) {
    if (isMissing(error)) return undefined
    if (!(error instanceof SyntaxError || error instanceof z.ZodError)) throw error
    await rename(path, `${path}.unreadable`)
    return undefined
  }
}

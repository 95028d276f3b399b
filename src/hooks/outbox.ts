import { readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { isMissing, namesEnding, removeFile, writeAtomic } from '../lib/files.ts'
import { messageShape } from '../notify/attempt.ts'
import { HOOK_EVENTS } from './event.ts'
import { fileName, type HookFolders } from './record.ts'

const shape = messageShape.extend({
  channel: z.string(),
  event: z.enum(HOOK_EVENTS),
  /** Milliseconds since the epoch. */
  queued_at: z.number(),
  attempts: z.number(),
  /** When the next attempt is due; milliseconds since the epoch. */
  next_at: z.number(),
  /** Why the last attempt failed, or why it was given up. */
  error: z.string().nullable(),
})

export type Notification = z.output<typeof shape>

/** The members of a notification before its first attempt. */
export function queuedAt(now: number) {
  return { queued_at: now, attempts: 0, next_at: now, error: null }
}

const KEPT_FAILED = 500

function pathIn(folder: string, { recorded_at, id }: Notification): string {
  return join(folder, fileName(recorded_at, id))
}

export async function putIntoOutbox({ outbox }: HookFolders, item: Notification): Promise<void> {
  await writeAtomic(pathIn(outbox, item), `${JSON.stringify(item)}\n`)
}

export async function removeFromOutbox({ outbox }: HookFolders, item: Notification): Promise<void> {
  await removeFile(pathIn(outbox, item))
}

/** Moves a notification to `failed`. It is written there first: after a crash in between it is tried again. */
export async function giveUp(folders: HookFolders, item: Notification): Promise<void> {
  const { failed } = folders
  await writeAtomic(pathIn(failed, item), `${JSON.stringify(item)}\n`)
  await removeFromOutbox(folders, item)
  const names = await namesEnding(failed, '.json')
  for (const old of names.slice(0, -KEPT_FAILED)) await removeFile(join(failed, old))
}

export async function requeueFailed(folders: HookFolders, now: number): Promise<void> {
  for (const item of await readItems(folders.failed)) {
    await putIntoOutbox(folders, { ...item, ...queuedAt(now) })
    await removeFile(pathIn(folders.failed, item))
  }
}

/** The notifications in `outbox` or `failed`, oldest first. Unreadable files are renamed. */
export async function readItems(folder: string): Promise<Notification[]> {
  const items = (await namesEnding(folder, '.json')).map((name) => readItem(join(folder, name)))
  return (await Promise.all(items)).filter((item) => item !== undefined)
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

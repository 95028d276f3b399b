import { hash } from 'node:crypto'
import { constants } from 'node:fs'
import { access, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { isTooDeep, jsonObject } from '../lib/json.ts'
import { namesEnding, orIfDenied, removeFile, syncFolder } from '../lib/files.ts'

/** `<data>/state/hooks/spool`: one file for each hook event that has not landed yet. */
export function spoolFolder(dataFolder: string): string {
  return join(dataFolder, 'state', 'hooks', 'spool')
}

/** A recorded hook event. */
interface SpooledEvent {
  /** The name of its file in the spool. */
  readonly file: string
  /** JSON: `event_id`, `recorded_at`, `input`. */
  readonly text: string
  /** Milliseconds since the epoch. */
  readonly recordedAt: number
}

const event = z.looseObject({
  event_id: z.string().min(1),
  recorded_at: z.iso.datetime(),
  input: z.unknown(),
})

/** The names of the files in the spool, oldest first: they begin with the time. */
export function spoolNames(dataFolder: string): Promise<string[]> {
  return namesEnding(spoolFolder(dataFolder), '.json')
}

/**
 * The oldest events of the spool, at most `most`, without those that this user may not read: an
 * agent of another user, such as root in a container, recorded them.
 */
export async function readSpool(dataFolder: string, most: number): Promise<SpooledEvent[]> {
  const events: SpooledEvent[] = []
  for (const file of await spoolNames(dataFolder)) {
    if (events.length === most) break
    const read = readEvent(join(spoolFolder(dataFolder), file), file)
    const event = await orIfDenied(read, undefined)
    if (event !== undefined) events.push(event)
  }
  return events
}

/** How many events this user may not read. */
export async function deniedInSpool(dataFolder: string): Promise<number> {
  const paths = (await spoolNames(dataFolder)).map((name) => join(spoolFolder(dataFolder), name))
  const checks = await Promise.allSettled(paths.map((path) => access(path, constants.R_OK)))
  return checks.filter(({ status }) => status === 'rejected').length
}

export async function removeFromSpool(
  dataFolder: string,
  events: readonly SpooledEvent[],
): Promise<void> {
  const folder = spoolFolder(dataFolder)
  for (const { file } of events) await removeFile(join(folder, file))
  await syncFolder(folder)
}

async function readEvent(path: string, file: string): Promise<SpooledEvent> {
  const text = await readFile(path, 'utf8')
  const known = event.safeParse(isTooDeep(text) ? undefined : jsonObject(text)).data
  if (known !== undefined) return { file, text, recordedAt: Date.parse(known.recorded_at) }
  const recordedAt = Math.floor((await stat(path)).mtimeMs)
  return { file, recordedAt, text: unreadable(file, text, recordedAt) }
}

/** Wraps unreadable text as an event; its id is the same each time the file is read. */
function unreadable(file: string, text: string, recordedAt: number): string {
  const digest = hash('sha256', `${file}\n${text}`)
  return JSON.stringify({
    event_id: digest.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5'),
    recorded_at: new Date(recordedAt).toISOString(),
    input: { unreadable: text.slice(0, 4096) },
  })
}

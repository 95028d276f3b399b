import { hash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { isTooDeep, jsonObject } from '../lib/json.ts'
import { namesEnding, removeFile, syncFolder } from '../lib/files.ts'

/** `<data>/state/hooks/spool`: one file for each hook event that has not landed yet. */
function spoolFolder(dataFolder: string): string {
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

/** The oldest events of the spool, at most `most`: file names begin with the time. */
export async function readSpool(dataFolder: string, most: number): Promise<SpooledEvent[]> {
  const folder = spoolFolder(dataFolder)
  const names = await namesEnding(folder, '.json')
  const events: SpooledEvent[] = []
  for (const file of names.slice(0, most)) events.push(await readEvent(join(folder, file), file))
  return events
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

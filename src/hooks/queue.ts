import { readFile, rename } from 'node:fs/promises'
import { join, basename } from 'node:path'
import { z } from 'zod'
import {
  isMissing,
  namesEnding,
  orIfDenied,
  removeFile,
  writeAtomic,
  readJson,
} from '../lib/files.ts'
import { messageShape, plain } from '../notify/channel.ts'
import { HOOK_EVENTS, readEvent, type HookEvent } from './event.ts'
import { fileName, type HookFolders } from './record.ts'
import { createHash } from 'node:crypto'
import { render, type HooksConfig, type QuietHours } from './config.ts'

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
function queuedAt(now: number) {
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

/** The notifications in `outbox` or `failed` that this user may read, oldest first. Damaged files are renamed. */
export async function readItems(folder: string): Promise<Notification[]> {
  const items: Notification[] = []
  // One after the other: a receiver that is down leaves more files than a process may open at once.
  for (const name of await namesEnding(folder, '.json')) {
    const item = await orIfDenied(readItem(join(folder, name)), undefined)
    if (item !== undefined) items.push(item)
  }
  return items
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

/** The file names of events to which the rules have not been applied, oldest first. */
export function inboxNames({ inbox }: HookFolders): Promise<string[]> {
  return namesEnding(inbox, '.json')
}

/**
 * Applies the rules to every event of the inbox: puts a notification for each of their
 * channels into the outbox, then removes the event. After a crash in between, the same
 * notifications are made again, under the same names.
 */
export async function takeInbox(
  folders: HookFolders,
  config: HooksConfig,
  now: number,
): Promise<readonly Notification[]> {
  const names = await inboxNames(folders)
  if (names.length === 0) return []
  const recent = await readRecent(folders)
  const windowMs = config.dedupe_seconds * 1000
  const items: Notification[] = []
  for (const name of names) {
    // one of an agent of another user, such as root, does not stop the others
    const event = readEvent(await orIfDenied(readFile(join(folders.inbox, name), 'utf8'), ''))
    if (event === undefined || isRepetition(event, recent, windowMs)) continue
    const channels = channelsFor(config, event)
    if (channels.length > 0) {
      recent.set(contentKey(event), { event_id: event.eventId, at: event.recordedAt })
    }
    items.push(...channels.map((channel) => notificationOf(event, channel, config, now)))
  }
  if (items.length > 0) {
    const kept = [...recent].filter(([, { at }]) => Math.abs(now - at) < windowMs)
    await writeAtomic(folders.recent, `${JSON.stringify(Object.fromEntries(kept))}\n`)
  }
  for (const item of items) await putIntoOutbox(folders, item)
  for (const name of names) await removeFile(join(folders.inbox, name))
  return items
}

const recentSchema = z.record(z.string(), z.object({ event_id: z.string(), at: z.number() }))

type Recent = Map<string, { readonly event_id: string; readonly at: number }>

/** Recently reported events, by content; saved for the next sender. */
async function readRecent({ recent }: HookFolders): Promise<Recent> {
  const value = await orIfDenied(
    readJson(recent, () => undefined),
    undefined,
  )
  const found = recentSchema.safeParse(value).data ?? {}
  return new Map(Object.entries(found))
}

/**
 * Whether another event with the same content came shortly before. An event that is read
 * again after a crash does not repeat itself.
 */
function isRepetition(event: HookEvent, recent: Recent, windowMs: number): boolean {
  const last = recent.get(contentKey(event))
  if (last === undefined || last.event_id === event.eventId) return false
  return Math.abs(event.recordedAt - last.at) < windowMs
}

function contentKey({ name, sessionId, message, reason }: HookEvent): string {
  const content = JSON.stringify([name, sessionId, message, reason])
  return createHash('sha256').update(content).digest('hex').slice(0, 32)
}

/** The channels that the event is reported to, in the rules' order, each once. */
export function channelsFor(
  config: Pick<HooksConfig, 'rules' | 'quiet_hours'>,
  event: Pick<HookEvent, 'name' | 'isFailure' | 'recordedAt'>,
): readonly string[] {
  const rules = config.rules.filter(
    ({ events, when, quiet_hours = config.quiet_hours }) =>
      events.includes(event.name) &&
      (when === 'any' || event.isFailure) &&
      !isQuiet(quiet_hours ?? 'off', event),
  )
  return [...new Set(rules.flatMap(({ channels }) => channels))]
}

function isQuiet(
  hours: QuietHours | 'off',
  { isFailure, recordedAt }: Pick<HookEvent, 'isFailure' | 'recordedAt'>,
): boolean {
  if (hours === 'off' || (hours.except === 'failure' && isFailure)) return false
  return isWithin(hours, recordedAt)
}

/** From the minute `from` to the minute before `to`; also across midnight. */
export function isWithin({ from, to, timezone }: QuietHours, at: number): boolean {
  // `HH:MM` in the zone, by default the machine's
  const time = new Intl.DateTimeFormat('en-GB', {
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    ...(timezone === undefined ? {} : { timeZone: timezone }),
  }).format(at)
  return from < to ? time >= from && time < to : time >= from || time < to
}

export function notificationOf(
  event: HookEvent,
  channel: string,
  config: Pick<HooksConfig, 'templates'>,
  now: number,
): Notification {
  const recorded_at = new Date(event.recordedAt).toISOString()
  const project = basename(event.cwd)
  const text = render(event.name, config.templates, {
    event: event.name,
    message: event.message,
    reason: event.reason,
    session_id: event.sessionId,
    cwd: event.cwd,
    project,
    recorded_at,
  })
  const failed = event.isFailure ? ' (failure)' : ''
  return {
    id: `${event.eventId}.${channel}`,
    channel,
    event_id: event.eventId,
    event: event.name,
    recorded_at,
    is_failure: event.isFailure,
    title: plain(`${event.name}${failed}${project === '' ? '' : ` in ${project}`}`),
    text: text === '' ? event.name : text,
    input: event.input,
    ...queuedAt(now),
  }
}

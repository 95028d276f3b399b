import { readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { listIfThere, orIfMissing, removeFile } from '../lib/files.ts'
import type { HooksConfig } from './config.ts'
import { readEvent, type HookEvent } from './event.ts'
import type { HookFolders } from './folders.ts'
import { putIntoOutbox, type Notification } from './outbox.ts'
import { Recent } from './recent.ts'
import { ASIDE_ENDING } from './record.ts'
import { channelsFor } from './rules.ts'
import { plain, render } from './template.ts'

/** Half a file that is older was left by a kill. */
const LEFT_AFTER_MS = 3_600_000

/** Names of the events that the rules have not been held against, the oldest first. */
export async function inboxNames(folders: HookFolders): Promise<string[]> {
  const names = (await listIfThere(folders.inbox)).map(({ name }) => name)
  return names.filter((name) => name.endsWith('.json')).sort()
}

/**
 * Holds the rules against every event of the inbox: a notification for each
 * channel that is to be told goes into the outbox, then the event leaves the
 * inbox. A crash between makes the same notifications again, under the same names.
 *
 * @returns the notifications.
 */
export async function takeInbox(
  folders: HookFolders,
  config: HooksConfig,
  now: number,
): Promise<readonly Notification[]> {
  const names = await inboxNames(folders)
  if (names.length === 0) return []
  const recent = await Recent.open(folders.recent, config.dedupe_seconds)
  const items: Notification[] = []
  for (const name of names) {
    const event = readEvent(await readFile(join(folders.inbox, name), 'utf8'))
    if (event === undefined || recent.isRepetition(event)) continue
    const channels = channelsFor(config, event)
    if (channels.length > 0) recent.add(event)
    items.push(...channels.map((channel) => notificationOf(event, channel, config, now)))
  }
  if (items.length > 0) await recent.save(folders.recent, now)
  for (const item of items) await putIntoOutbox(folders, item)
  for (const name of names) await removeFile(join(folders.inbox, name))
  return items
}

/** Removes what killed processes were writing. */
export async function removeLeftovers(folders: HookFolders, now: number): Promise<void> {
  for (const folder of [folders.spool, folders.inbox, folders.last]) {
    for (const { name } of await listIfThere(folder)) {
      if (!name.endsWith(ASIDE_ENDING)) continue
      const path = join(folder, name)
      const file = await orIfMissing(stat(path), undefined)
      if (file !== undefined && now - file.mtimeMs > LEFT_AFTER_MS) await removeFile(path)
    }
  }
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
    queued_at: now,
    attempts: 0,
    next_at: now,
    error: null,
  }
}

import { constants } from 'node:fs'
import { access, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { listIfThere, orIfMissing, readIfThere } from '../lib/files.ts'
import { readCommandLine, type HookCommand } from './command-line.ts'
import { HOOK_EVENTS, type HookEventName } from './events.ts'
import type { HookFolders } from './folders.ts'
import { inboxNames } from './inbox.ts'
import { readItems, type Notification } from './outbox.ts'
import { isSenderAtWork } from './sender-start.ts'
import type { Registered } from './settings.ts'

export interface EventStatus {
  readonly event: HookEventName
  /** The command that is registered; null: none of ours. */
  readonly command: string | null
  /** Why the agent cannot run it; null where it can, or where there is none. */
  readonly problem: string | null
  /** ISO 8601; null where it has not come yet. */
  readonly lastAt: string | null
}

export interface SpoolStatus {
  readonly files: number
  readonly bytes: number
}

export interface DeliveryStatus {
  /** Events that the rules have not been held against. */
  readonly inbox: number
  readonly waiting: readonly Notification[]
  readonly failed: readonly Notification[]
  readonly isSenderAtWork: boolean
}

/** How it stands with each event in the settings file. */
export async function eventsStatus(
  folders: HookFolders,
  registered: readonly Registered[],
): Promise<readonly EventStatus[]> {
  return Promise.all(
    HOOK_EVENTS.map(async (event) => {
      const command = registered.find((each) => each.event === event)?.command ?? null
      const problem = command === null ? null : await problemOf(readCommandLine(command))
      const last = await readIfThere(join(folders.last, event))
      return { event, command, problem, lastAt: last?.trim() ?? null }
    }),
  )
}

async function problemOf(command: HookCommand | undefined): Promise<string | null> {
  if (command === undefined) return 'it is none of ours'
  const { node, script, dataFolder } = command
  if (!(await isAllowed(node, constants.X_OK))) return `${node} cannot be run`
  if (!(await isAllowed(script, constants.R_OK))) return `${script} cannot be read`
  const isThere = await isAllowed(dataFolder, constants.F_OK)
  if (isThere && !(await isAllowed(dataFolder, constants.W_OK | constants.X_OK))) {
    return `${dataFolder} cannot be written`
  }
  return null
}

async function isAllowed(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  )
}

/** What is recorded and not yet in the lake. */
export async function spoolStatus(folders: HookFolders): Promise<SpoolStatus> {
  const names = (await listIfThere(folders.spool))
    .map(({ name }) => name)
    .filter((name) => name.endsWith('.json'))
  const files = await Promise.all(
    // `sync` may land one meanwhile.
    names.map((name) => orIfMissing(stat(join(folders.spool, name)), undefined)),
  )
  const bytes = files.reduce((sum, file) => sum + (file?.size ?? 0), 0)
  return { files: names.length, bytes }
}

export async function deliveryStatus(folders: HookFolders, now: number): Promise<DeliveryStatus> {
  return {
    inbox: (await inboxNames(folders)).length,
    waiting: await readItems(folders.outbox),
    failed: await readItems(folders.failed),
    isSenderAtWork: isSenderAtWork(folders, now),
  }
}

/** The last lines of the errors' log, the newest last. */
export async function lastErrors(folders: HookFolders, count: number): Promise<readonly string[]> {
  const text = await readFile(folders.errorsLog, 'utf8').catch(() => '')
  return text
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .slice(-count)
}

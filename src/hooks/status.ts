import { constants } from 'node:fs'
import { access, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { namesEnding, orIfMissing, readIfThere } from '../lib/files.ts'
import { HOOK_EVENTS } from './event.ts'
import { inboxNames, readItems } from './queue.ts'
import { isSenderAtWork, type HookFolders } from './record.ts'
import { readCommandLine, type Registered } from './settings.ts'

export type EventStatus = Readonly<Awaited<ReturnType<typeof eventsStatus>>[number]>

/** The state of each event in the settings file. */
export async function eventsStatus(folders: HookFolders, registered: readonly Registered[]) {
  return Promise.all(
    HOOK_EVENTS.map(async (event) => {
      const command = registered.find((each) => each.event === event)?.command ?? null
      const problem = command === null ? null : await problemOf(command)
      return {
        event,
        installed: command !== null,
        runnable: command !== null && problem === null,
        /** Why the agent cannot run the command; null if it can, or if there is none. */
        problem,
        command,
        /** When the event came last, ISO 8601; null if it has not come yet. */
        last_event_at: (await readIfThere(join(folders.last, event)))?.trim() ?? null,
      }
    }),
  )
}

async function problemOf(line: string): Promise<string | null> {
  const command = readCommandLine(line)
  if (command === undefined) return 'it is not a command of agent-warehouse'
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

/** The recorded events that are not yet in the lake. */
export async function spoolStatus({ spool }: HookFolders) {
  const names = await namesEnding(spool, '.json')
  // `sync` may land one meanwhile.
  const files = names.map((name) => orIfMissing(stat(join(spool, name)), { size: 0 }))
  const sizes = (await Promise.all(files)).map(({ size }) => size)
  return { files: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) }
}

export type DeliveryStatus = Readonly<Awaited<ReturnType<typeof deliveryStatus>>>

/** The notifications that are not delivered. */
export async function deliveryStatus(folders: HookFolders, now: number) {
  return {
    /** The number of events to which the rules have not been applied. */
    inbox: (await inboxNames(folders)).length,
    waiting: await readItems(folders.outbox),
    failed: await readItems(folders.failed),
    isSenderAtWork: isSenderAtWork(folders, now),
  }
}

export async function lastErrors({ errorsLog }: HookFolders, count: number): Promise<string[]> {
  const logs = [`${errorsLog}.1`, errorsLog].map((path) => readFile(path, 'utf8').catch(() => ''))
  const lines = (await Promise.all(logs)).join('\n').split('\n')
  return lines.filter((line) => line !== '').slice(-count)
}

import { randomUUID } from 'node:crypto'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { messageOf } from '../../lib/errors.ts'
import {
  handToSender,
  hookFolders,
  isSenderAtWork,
  logError,
  mentionsHooks,
  noteLast,
  spoolEvent,
  startSender,
  type HookFolders,
  type SenderStart,
} from '../../hooks/record.ts'
import { inputOf, MAX_INPUT_BYTES, readInput } from '../../hooks/event.ts'
import { makeFolder } from '../../lib/files.ts'
import { keepOutOfGit } from '../../lake/layout.ts'
import { openRedaction, redactionKeyIn } from '../../lib/secrets/redaction.ts'

/** The agent waits no longer than its `timeout`, which `hooks install` sets well above this. */
const LIMIT_MS = 5_000

/** An agent writes its object at once; the command does not wait for input that never ends. */
const INPUT_MS = 2_000

/**
 * The command that the agent runs on an event: records the object on standard input, and leaves
 * delivery to a sender in its own process. Always exits with 0, in time, and prints nothing on
 * standard output, so that the agent is not disturbed. Loads as little of the package as
 * possible: no argument parser, no YAML, no DuckDB.
 */
export async function hooksRun(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv,
  cwd: string,
): Promise<never> {
  const places = placesOf(argv, environment, cwd)
  const folders = hookFolders(places.dataFolder)
  const end = (): never => process.exit(0)
  const give = (error: unknown): never => {
    logError(folders, Date.now(), `hooks run: ${messageOf(error)}`)
    return end()
  }
  process.on('uncaughtException', give)
  // Ctrl-C and a closed terminal reach the agent's commands, too: the event is still recorded.
  for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(signal, () => undefined)
  setTimeout(() => give(new Error(`not done within ${LIMIT_MS} ms`)), LIMIT_MS)
  try {
    await take({ ...places, environment }, folders)
  } catch (error) {
    give(error)
  }
  return end()
}

async function take(
  { dataFolder, config, environment }: Omit<SenderStart, 'script'>,
  folders: HookFolders,
): Promise<void> {
  const bytes = await readInput(process.stdin, INPUT_MS)
  makeFolder(folders.root)
  keepOutOfGit(dataFolder)
  const { json, isReadable, event } = inputOf(bytes)
  const redaction = await openRedaction(dataFolder, redactionKeyIn(environment))
  const input = redaction.item('hook_events', json)
  const recordedAt = Date.now()
  const spooled = await spoolEvent(folders, { eventId: randomUUID(), recordedAt, input })
  if (!isReadable) {
    const { byteLength } = bytes
    const bytesRead = byteLength > MAX_INPUT_BYTES ? `more than ${MAX_INPUT_BYTES}` : byteLength
    throw new Error(
      `standard input was not a JSON object (${bytesRead} bytes); recorded as unreadable in ${spooled.name}`,
    )
  }
  if (mentionsHooks(config)) {
    await handToSender(folders, spooled)
    if (!isSenderAtWork(folders, Date.now())) {
      await startSender({ script: MAIN, dataFolder, config, environment })
    }
  }
  // Last, because a notification matters more.
  await noteLast(folders, event, recordedAt)
}

/** The command itself, as the agent and a sender run it. */
export const MAIN = join(dirname(fileURLToPath(import.meta.url)), '..', 'main.js')

/** Ignores unknown arguments: a hook must not fail because of them. */
function placesOf(argv: readonly string[], environment: NodeJS.ProcessEnv, cwd: string) {
  const string = { type: 'string' } as const
  const { values } = parseArgs({
    args: [...argv],
    strict: false,
    options: { data: string, config: string },
  })
  const given = (value: unknown): string => (typeof value === 'string' ? value : '')
  const variable = environment['AGENT_WAREHOUSE_DATA']?.trim() ?? ''
  const data = given(values.data) || variable || 'data'
  const config = configPath(given(values.config) || undefined, cwd)
  return { dataFolder: resolve(cwd, data), config }
}

/** Where the configuration is, or would be. */
export function configPath(named: string | undefined, cwd: string): string {
  return resolve(cwd, named ?? 'agent-warehouse.yaml')
}

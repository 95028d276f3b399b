import { closeSync, openSync, readFileSync, statSync } from 'node:fs'
import { thisPlace, vitalsOf, type ProcessId } from '../lib/place.ts'
import type { HookFolders } from './record.ts'

/** A sender renews its lease more often than this while it lives. */
export const LOCK_IS_FRESH_MS = 5_000

/** What a sender is started with: absolute paths. */
export interface SenderStart {
  /** The command's own script. */
  readonly script: string
  readonly dataFolder: string
  readonly config: string
  readonly environment: NodeJS.ProcessEnv
}

/**
 * True when the configuration may say something of hooks. A look at its bytes,
 * because reading YAML and its shape takes longer than all the rest: the sender does it.
 */
export function mentionsHooks(configFile: string): boolean {
  try {
    return readFileSync(configFile).includes('hooks')
  } catch {
    return false
  }
}

/**
 * True when a sender is at work that will look into the inbox again: it does so
 * after it has given its lock back. A killed one's lock is not fresh for long.
 */
export function isSenderAtWork(folders: HookFolders, now: number): boolean {
  try {
    const age = Math.abs(now - statSync(folders.senderLock).mtimeMs)
    if (age > LOCK_IS_FRESH_MS) return false
    const owner: unknown = JSON.parse(readFileSync(folders.senderLock, 'utf8'))
    return isProcessId(owner) && vitalsOf(owner, thisPlace()) !== 'dead'
  } catch {
    return false
  }
}

/** Without a library: the agent waits for this. */
function isProcessId(value: unknown): value is ProcessId {
  return (
    typeof value === 'object' &&
    value !== null &&
    'pid' in value &&
    typeof value.pid === 'number' &&
    ['host', 'boot', 'pidNamespace', 'begun'].every((name) => name in value)
  )
}

/**
 * Starts a process that delivers and ends on its own, whatever becomes of this
 * one. It keeps the terminal, where there is one, to ring its bell.
 *
 * @throws Error when the system starts no process.
 */
export async function startSender(start: SenderStart): Promise<void> {
  const { script, dataFolder, config, environment } = start
  // Loaded where it is needed: most events start no sender.
  const { spawn } = await import('node:child_process')
  const terminal = openTerminal()
  const child = spawn(
    process.execPath,
    [script, 'hooks', 'flush', '--detached', '--data', dataFolder, '--config', config],
    {
      cwd: dataFolder,
      detached: true,
      env: environment,
      stdio: ['ignore', terminal ?? 'ignore', 'ignore'],
      windowsHide: true,
    },
  )
  child.on('error', () => undefined)
  child.unref()
  if (terminal !== undefined) closeSync(terminal)
  if (child.pid === undefined) throw new Error('the system starts no process for the sender')
}

function openTerminal(): number | undefined {
  try {
    return openSync('/dev/tty', 'w')
  } catch {
    return undefined
  }
}

import { closeSync, openSync, readFileSync, statSync } from 'node:fs'
import { thisPlace, vitalsOf, type ProcessId } from '../lib/place.ts'
import type { HookCommand } from './command-line.ts'
import type { HookFolders } from './record.ts'

/** The lock of a sender that is alive is younger: it renews it several times in this time. */
export const MAX_LOCK_AGE_MS = 5_000

/** `script`: the command's own. */
export interface SenderStart extends Omit<HookCommand, 'node'> {
  readonly environment: NodeJS.ProcessEnv
}

/**
 * True if the configuration may configure hooks. Searches its bytes, because parsing YAML
 * takes longer than everything else here; the sender parses it.
 */
export function mentionsHooks(configFile: string): boolean {
  try {
    return readFileSync(configFile).includes('hooks')
  } catch {
    return false
  }
}

/**
 * True if a sender is running. It will read the inbox again, even after it has released its
 * lock. The lock of a killed sender is soon out of date.
 */
export function isSenderAtWork(folders: HookFolders, now: number): boolean {
  try {
    const age = Math.abs(now - statSync(folders.senderLock).mtimeMs)
    if (age > MAX_LOCK_AGE_MS) return false
    const owner: unknown = JSON.parse(readFileSync(folders.senderLock, 'utf8'))
    return isProcessId(owner) && vitalsOf(owner, thisPlace()) !== 'dead'
  } catch {
    return false
  }
}

/** Uses no library, because the agent waits for this. */
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
 * Starts a process that delivers and then ends, independently of this one. It inherits
 * the terminal, if there is one, to ring its bell.
 *
 * @throws Error if the system starts no process.
 */
export async function startSender(start: SenderStart): Promise<void> {
  const { script, dataFolder, config, environment } = start
  // Imported here, because most events start no sender.
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
  if (child.pid === undefined) throw new Error('the system did not start a process for the sender')
}

function openTerminal(): number | undefined {
  try {
    return openSync('/dev/tty', 'w')
  } catch {
    return undefined
  }
}

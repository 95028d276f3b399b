import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config } from '../config/config.ts'
import { hookFolders } from '../hooks/folders.ts'
import { isSenderAtWork, startSender } from '../hooks/sender-start.ts'
import { missingVariables } from '../hooks/variables.ts'
import { listIfThere } from '../lib/files.ts'
import type { Terminal } from './command.ts'
import { configPath } from './hooks-place.ts'

/**
 * Starts a sender where notifications wait: a nightly run goes on with what no
 * event has woken. Not where the environment lacks a secret that a channel needs:
 * it would give up what the agent's own environment can deliver. Says nothing and
 * never fails: it is not what the run is for.
 */
export async function resumeSender(
  { dataFolder, hooks }: Pick<Config, 'dataFolder' | 'hooks'>,
  flags: { readonly config?: string | undefined },
  terminal: Terminal,
): Promise<void> {
  try {
    if (hooks.rules.length === 0 || missingVariables(hooks, terminal.environment).length > 0) return
    const folders = hookFolders(dataFolder)
    const config = configPath(flags, terminal)
    const waiting = [...(await listIfThere(folders.inbox)), ...(await listIfThere(folders.outbox))]
    if (waiting.length === 0 || isSenderAtWork(folders, Date.now())) return
    const script = join(dirname(fileURLToPath(import.meta.url)), 'main.js')
    await startSender({ script, dataFolder, config, environment: { ...terminal.environment } })
  } catch {
    // The next event, or `hooks flush`, starts one.
  }
}

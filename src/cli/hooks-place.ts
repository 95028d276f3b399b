import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config } from '../config/config.ts'
import { commandLine, type HookCommand } from '../hooks/command-line.ts'
import { hookFolders } from '../hooks/folders.ts'
import { isSenderAtWork, startSender } from '../hooks/sender-start.ts'
import { missingVariables } from '../hooks/variables.ts'
import { listIfThere } from '../lib/files.ts'
import { configured, dataOptions, jsonOption, text, type Flags, type Terminal } from './command.ts'

/** Which of the agent's settings files. */
export const settingsOptions = {
  ...dataOptions,
  ...jsonOption,
  user: {
    type: 'boolean',
    conflicts: 'project',
    describe: 'the settings of this user, for every project (the default)',
  },
  project: { type: 'boolean', describe: 'the settings of the project in this folder' },
  'config-dir': text(
    "the agent's configuration folder (default AGENT_CONFIG_DIR, else ~/.agent; project: ./.agent)",
  ),
  settings: {
    ...text('the settings file itself'),
    conflicts: ['user', 'project', 'config-dir'],
  },
} as const

type SettingsFlags = Flags<typeof settingsOptions>

/** A settings file and what says that it is this one: the specification names no folder. */
export interface SettingsPlace {
  readonly path: string
  readonly why: string
}

export function settingsPlace(flags: SettingsFlags, terminal: Terminal): SettingsPlace {
  const { cwd, environment } = terminal
  if (flags.settings !== undefined) {
    return { path: resolve(cwd, flags.settings), why: 'named by --settings' }
  }
  const scope = flags.project === true ? 'of the project' : 'of the user'
  const of = (folder: string, why: string): SettingsPlace => ({
    path: join(resolve(cwd, folder), 'settings.json'),
    why: `${scope}; ${why}`,
  })
  if (flags.configDir !== undefined) return of(flags.configDir, 'folder named by --config-dir')
  if (flags.project === true)
    return of('.agent', 'by default ./.agent, --config-dir names another folder')
  const variable = environment['AGENT_CONFIG_DIR']?.trim()
  if (variable !== undefined && variable !== '') {
    return of(variable, 'folder named by AGENT_CONFIG_DIR')
  }
  const folder = join(environment['HOME'] ?? homedir(), '.agent')
  return of(folder, 'by default ~/.agent, --config-dir or AGENT_CONFIG_DIR name another folder')
}

/** What is registered, for this installation, data folder and configuration. */
export interface Hook {
  readonly config: Config
  readonly command: HookCommand
  readonly line: string
}

/** @throws UsageError when the configuration is wrong: the agent is not the one to find out. */
export function hookOf(flags: SettingsFlags, terminal: Terminal): Hook {
  const config = configured(flags, terminal)
  const command = {
    node: process.execPath,
    script: MAIN,
    dataFolder: config.dataFolder,
    config: configPath(flags, terminal),
  }
  const platform = process.platform === 'win32' ? 'windows' : 'posix'
  return { config, command, line: commandLine(command, platform) }
}

/** Where the configuration is, or would be. */
export function configPath(
  { config }: { readonly config?: string | undefined },
  terminal: Terminal,
): string {
  return resolve(terminal.cwd, config ?? 'agent-warehouse.yaml')
}

const MAIN = join(dirname(fileURLToPath(import.meta.url)), 'main.js')

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
    await startSender({
      script: MAIN,
      dataFolder,
      config,
      environment: { ...terminal.environment },
    })
  } catch {
    // The next event, or `hooks flush`, starts one.
  }
}

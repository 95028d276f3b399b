import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config } from '../config/config.ts'
import { commandLine, type HookCommand } from '../hooks/command-line.ts'
import { dataOptions, jsonOption, type Terminal } from './command.ts'
import { configured } from './configured.ts'
import type { Argv } from 'yargs'

/** Which of the agent's settings files. */
export function settingsOptions(yargs: Argv) {
  return jsonOption(dataOptions(yargs))
    .option('user', {
      type: 'boolean',
      describe: 'the settings of this user, for every project (the default)',
    })
    .option('project', {
      type: 'boolean',
      describe: 'the settings of the project in this folder',
    })
    .option('config-dir', {
      type: 'string',
      requiresArg: true,
      describe:
        "the agent's configuration folder (default AGENT_CONFIG_DIR, else ~/.agent; project: ./.agent)",
    })
    .option('settings', {
      type: 'string',
      requiresArg: true,
      describe: 'the settings file itself',
    })
    .conflicts({ user: 'project', settings: ['user', 'project', 'config-dir'] })
}

export interface SettingsFlags {
  readonly data?: string | undefined
  readonly config?: string | undefined
  readonly project?: boolean | undefined
  readonly configDir?: string | undefined
  readonly settings?: string | undefined
}

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
    script: join(dirname(fileURLToPath(import.meta.url)), 'main.js'),
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

import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Config } from '../../config/config.ts'
import { commandLine, type HookCommand } from '../../hooks/command-line.ts'
import { hookFolders } from '../../hooks/folders.ts'
import { isSenderAtWork, startSender } from '../../hooks/sender-start.ts'
import { missingVariables } from '../../hooks/variables.ts'
import { listIfThere } from '../../lib/files.ts'
import {
  configured,
  dataOptions,
  jsonOption,
  text,
  type Flags,
  type Terminal,
  defineCommand,
  flag,
  jsonOf,
  textOr,
} from '../command.ts'
import { ExitCode, UsageError } from '../../lib/errors.ts'
import { diffLines } from '../../hooks/diff.ts'
import { DEFAULT_EVENTS, HOOK_EVENTS, isHookEvent, type HookEventName } from '../../hooks/events.ts'
import { createdIn, noteCreated } from '../../hooks/installed.ts'
import {
  edited,
  NO_SETTINGS,
  readSettings,
  writeSettings,
  type SettingsFile,
} from '../../hooks/settings-file.ts'
import { install, uninstall } from '../../hooks/settings.ts'
import { keepOutOfGit } from '../../lake/data-folder.ts'
import { MAIN } from './run.ts'

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

const options = {
  ...settingsOptions,
  'dry-run': flag('show what would change, and change nothing'),
}

export const hooksInstallCommand = defineCommand({
  examples: [
    ['$0 hooks install', 'for this user; Notification, Stop, SubagentStop and SessionEnd'],
    ['$0 hooks install --project --dry-run', 'what would change for the project in this folder'],
    ['$0 hooks install --events Stop,PostToolUse --config-dir ~/.agent', 'certain events'],
  ],
  options: {
    ...options,
    events: textOr(
      DEFAULT_EVENTS.join(','),
      `events, separated by commas: ${HOOK_EVENTS.join(', ')}`,
    ),
  },
  run: async (flags, terminal) => {
    const hook = hookOf(flags, terminal)
    const place = settingsPlace(flags, terminal)
    const file = await readSettings(place.path)
    const { text, changes, created } = edited(file, (before) =>
      install(before, eventsOf(flags.events), hook.line),
    )
    const { installed } = hookFolders(hook.config.dataFolder)
    const change = await apply(file, text, flags.dryRun)
    if (change.isWritten) {
      await noteCreated(installed, file.path, created)
      keepOutOfGit(hook.config.dataFolder)
    }
    tell(terminal, flags.json, {
      place,
      path: file.path,
      change,
      json: { command: hook.line, events: changes },
      lines: [
        `command   ${hook.line}`,
        ...Object.entries(changes).map(([event, what]) => `${event.padEnd(14)}${what}`),
        ...missingVariables(hook.config.hooks, terminal.environment).map(
          ({ variable, channel }) =>
            `warning   ${variable} is not set here; channel '${channel}' needs it where the agent runs`,
        ),
      ],
    })
    return ExitCode.complete
  },
})

export const hooksUninstallCommand = defineCommand({
  examples: [
    ['$0 hooks uninstall', 'removes what install put into the settings of this user'],
    ['$0 hooks uninstall --project --dry-run', 'what would change for the project'],
  ],
  options,
  run: async (flags, terminal) => {
    const { config } = hookOf(flags, terminal)
    const place = settingsPlace(flags, terminal)
    const file = await readSettings(place.path)
    const { installed } = hookFolders(config.dataFolder)
    const created = await createdIn(installed, file.path)
    const { text, removed } = edited(file, (before) => uninstall(before, created))
    const change = await apply(file, text, flags.dryRun)
    if (change.isWritten && created !== null) await noteCreated(installed, file.path, null)
    tell(terminal, flags.json, {
      place,
      path: file.path,
      change,
      json: { removed },
      lines:
        removed.length === 0
          ? ['nothing of ours is registered there']
          : removed.map((event) => `${event.padEnd(14)}removed`),
    })
    return ExitCode.complete
  },
})

interface Applied {
  readonly isWritten: boolean
  readonly backup: string | null
  /** Of what would change; only where it is not written. */
  readonly diff: readonly string[]
}

async function apply(file: SettingsFile, text: string, isDryRun: boolean): Promise<Applied> {
  const before = file.text ?? NO_SETTINGS
  if (isDryRun) {
    return {
      isWritten: false,
      backup: null,
      diff: diffLines(file.text ?? '', text === before ? (file.text ?? '') : text),
    }
  }
  if (text === before) return { isWritten: false, backup: null, diff: [] }
  return { isWritten: true, backup: await writeSettings(file, text, Date.now()), diff: [] }
}

interface Told {
  readonly place: SettingsPlace
  readonly path: string
  readonly change: Applied
  readonly json: object
  readonly lines: readonly string[]
}

function tell(terminal: Terminal, isJson: boolean, told: Told): void {
  const { place, path, change, json, lines } = told
  const { isWritten, backup, diff } = change
  if (isJson) {
    const whole = { settings: path, chosen: place.why, changed: isWritten, backup, ...json, diff }
    terminal.out(jsonOf(whole))
    return
  }
  const all = [
    `settings  ${path} (${place.why})`,
    ...lines,
    ...(backup === null ? [] : [`backup    ${backup}`]),
    ...diff,
    isWritten ? 'changed' : diff.length > 0 ? 'not changed: --dry-run' : 'not changed',
  ]
  terminal.out(`${all.join('\n')}\n`)
}

function eventsOf(text: string): HookEventName[] {
  const names = [...new Set(text.split(',').map((name) => name.trim()))].filter(
    (name) => name !== '',
  )
  const hint = `Known: ${HOOK_EVENTS.join(', ')}.`
  if (names.length === 0) throw new UsageError('--events: no event is named', { hint })
  return names.map((name) => {
    if (isHookEvent(name)) return name
    throw new UsageError(`--events: there is no event '${name}'`, { hint })
  })
}

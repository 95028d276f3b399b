import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Config } from '../../config/config.ts'
import { commandLine } from '../../hooks/command-line.ts'
import { DEFAULT_EVENTS, HOOK_EVENTS, isHookEvent } from '../../hooks/event.ts'
import { hookFolders } from '../../hooks/record.ts'
import {
  createdIn,
  diffLines,
  edited,
  noteCreated,
  NO_SETTINGS,
  readSettings,
  writeSettings,
  type SettingsFile,
} from '../../hooks/settings-file.ts'
import { install, uninstall } from '../../hooks/settings.ts'
import { missingVariables } from '../../notify/channels.ts'
import { keepOutOfGit } from '../../lake/layout.ts'
import {
  configured,
  dataOptions,
  defineCommand,
  flag,
  jsonOption,
  text,
  textOr,
  type Answer,
  type Flags,
  type Terminal,
} from '../command.ts'
import { listOf } from '../options.ts'
import { configPath, MAIN } from './run.ts'

/** Options that name a settings file of the agent. */
export const settingsOptions = {
  ...dataOptions,
  ...jsonOption,
  user: {
    type: 'boolean',
    conflicts: 'project',
    describe: 'use the settings of this user, for every project (default)',
  },
  project: { type: 'boolean', describe: 'use the settings of the project in this folder' },
  'config-dir': text(
    "the agent's configuration folder (default: AGENT_CONFIG_DIR, else ~/.agent; with --project: ./.agent)",
  ),
  settings: {
    ...text('path of the settings file itself'),
    conflicts: ['user', 'project', 'config-dir'],
  },
} as const

type SettingsFlags = Flags<typeof settingsOptions>

/** The agent's settings file, and the command to register there. */
interface Place {
  readonly config: Config
  readonly file: SettingsFile
  /** Why it is this file: the specification names no folder. */
  readonly why: string
  /** The command that the agent runs. */
  readonly line: string
}

/** @throws UsageError for an invalid configuration, before the agent uses it. */
export async function settingsPlace(flags: SettingsFlags, terminal: Terminal): Promise<Place> {
  const config = configured(flags, terminal)
  const { dataFolder } = config
  const hook = {
    node: process.execPath,
    script: MAIN,
    dataFolder,
    config: configPath(flags.config, terminal.cwd),
  }
  const line = commandLine(hook, process.platform === 'win32' ? 'windows' : 'posix')
  const [path, why] = settingsPath(flags, terminal)
  return { config, file: await readSettings(resolve(terminal.cwd, path)), why, line }
}

function settingsPath(
  { settings, configDir, project }: SettingsFlags,
  { environment }: Terminal,
): [string, string] {
  if (settings !== undefined) return [settings, 'named by --settings']
  const scope = project === true ? 'of the project' : 'of the user'
  const within = (folder: string, why: string): [string, string] => [
    join(folder, 'settings.json'),
    `${scope}; ${why}`,
  ]
  if (configDir !== undefined) return within(configDir, 'folder named by --config-dir')
  if (project === true) {
    return within('.agent', 'by default ./.agent, --config-dir names another folder')
  }
  const variable = environment['AGENT_CONFIG_DIR']?.trim() ?? ''
  if (variable !== '') return within(variable, 'folder named by AGENT_CONFIG_DIR')
  const folder = join(environment['HOME'] ?? homedir(), '.agent')
  return within(folder, 'by default ~/.agent, --config-dir or AGENT_CONFIG_DIR name another folder')
}

const options = {
  ...settingsOptions,
  'dry-run': flag('show what would change, and change nothing'),
}

export const hooksInstallCommand = defineCommand({
  examples: [
    ['$0 hooks install', 'register the default events for this user'],
    [
      '$0 hooks install --project --dry-run',
      'show what would change for the project in this folder',
    ],
    ['$0 hooks install --events Stop,PostToolUse --config-dir ~/.agent', 'register other events'],
  ],
  options: {
    ...options,
    events: textOr(
      DEFAULT_EVENTS.join(','),
      `events, separated by commas: ${HOOK_EVENTS.join(', ')}`,
    ),
  },
  run: async (flags, terminal) => {
    const place = await settingsPlace(flags, terminal)
    const { config, file, line } = place
    const events = listOf(flags.events, '--events', 'event', HOOK_EVENTS).filter(isHookEvent)
    const { text, changes, created } = edited(file, (before) => install(before, events, line))
    const change = await apply(file, text, flags.dryRun)
    if (change.isWritten) {
      await noteCreated(hookFolders(config.dataFolder), file.path, created)
      keepOutOfGit(config.dataFolder)
    }
    return answerOf(place, change, { command: line, events: changes }, [
      `command   ${line}`,
      ...Object.entries(changes).map(([event, what]) => `${event.padEnd(14)}${what}`),
      ...missingVariables(config.hooks, terminal.environment).map(({ variable, channel }) => {
        const where = `channel '${channel}' needs it where the agent runs`
        return `warning   ${variable} is not set here; ${where}`
      }),
    ])
  },
})

export const hooksUninstallCommand = defineCommand({
  examples: [
    ['$0 hooks uninstall', 'remove what install added to the settings of this user'],
    ['$0 hooks uninstall --project --dry-run', 'show what would change for the project'],
  ],
  options,
  run: async (flags, terminal) => {
    const place = await settingsPlace(flags, terminal)
    const { config, file } = place
    const folders = hookFolders(config.dataFolder)
    const created = await createdIn(folders, file.path)
    const { text, removed } = edited(file, (before) => uninstall(before, created))
    const change = await apply(file, text, flags.dryRun)
    if (change.isWritten && created !== null) await noteCreated(folders, file.path, null)
    const none = ['nothing is registered there']
    const lines = removed.map((event) => `${event.padEnd(14)}removed`)
    return answerOf(place, change, { removed }, removed.length === 0 ? none : lines)
  },
})

interface Applied {
  readonly isWritten: boolean
  readonly backup: string | null
  /** What would change; empty if it is written. */
  readonly diff: readonly string[]
}

async function apply(file: SettingsFile, text: string, isDryRun: boolean): Promise<Applied> {
  if (text === (file.text ?? NO_SETTINGS)) return { isWritten: false, backup: null, diff: [] }
  if (isDryRun) return { isWritten: false, backup: null, diff: diffLines(file.text ?? '', text) }
  return { isWritten: true, backup: await writeSettings(file, text, Date.now()), diff: [] }
}

function answerOf(
  { file: { path }, why }: Place,
  { isWritten, backup, diff }: Applied,
  json: object,
  lines: readonly string[],
): Answer {
  const end = diff.length > 0 ? 'not changed: --dry-run' : 'not changed'
  const all = [
    `settings  ${path} (${why})`,
    ...lines,
    ...(backup === null ? [] : [`backup    ${backup}`]),
    ...diff,
    isWritten ? 'changed' : end,
  ]
  return {
    json: { settings: path, chosen: why, changed: isWritten, backup, ...json, diff },
    text: `${all.join('\n')}\n`,
  }
}

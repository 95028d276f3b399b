import { userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { DEFAULT_EVENTS, HOOK_EVENTS, isHookEvent } from '../../hooks/event.ts'
import type { Notification } from '../../hooks/queue.ts'
import { hookFolders } from '../../hooks/record.ts'
import {
  diffLines,
  edited,
  noteCreated,
  NO_SETTINGS,
  readInstalled,
  readSettings,
  writeSettings,
  type SettingsFile,
} from '../../hooks/settings-file.ts'
import {
  commandLine,
  install,
  readCommandLine,
  registeredIn,
  uninstall,
} from '../../hooks/settings.ts'
import {
  deliveryStatus,
  eventsStatus,
  lastErrors,
  spoolStatus,
  type DeliveryStatus,
  type EventStatus,
} from '../../hooks/status.ts'
import { keepOutOfGit } from '../../lake/layout.ts'
import { counted, size } from '../../lib/text.ts'
import { refuseTilde } from '../../lib/disk.ts'
import { UsageError } from '../../lib/errors.ts'
import { setting } from '../../lib/trust.ts'
import { missingVariables } from '../../notify/channel.ts'
import { toSecond } from '../../observe/words.ts'
import {
  dataCommand,
  dataOptions,
  defineCommand,
  flag,
  jsonOption,
  text,
  textOr,
  type Output,
  type Flags,
  type Entry,
  type Terminal,
} from '../command.ts'
import { listOf } from '../options.ts'
import { configPath, hooksRun, MAIN } from './run.ts'
import { hooksFlushCommand, hooksTestCommand } from './send.ts'

/** Options that name a settings file of the agent. */
const settingsOptions = {
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

type SettingsFlags = Flags<typeof dataOptions & typeof settingsOptions>

/**
 * The agent's settings file, why it is this file (the specification names no folder), and `line`,
 * the command that the agent runs. `dataFolder`: of a configuration that was checked before the
 * agent uses it.
 */
async function settingsPlace(flags: SettingsFlags, terminal: Terminal, dataFolder: string) {
  const config = configPath(flags.config, terminal.cwd)
  const hook = { node: process.execPath, script: MAIN, dataFolder, config }
  const line = commandLine(hook, process.platform === 'win32' ? 'windows' : 'posix')
  const [named, why] = settingsPath(flags, terminal)
  const path = resolve(terminal.cwd, named)
  refuseTilde(path, 'the settings file')
  return { file: await readSettings(path), why, line }
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
  const variable = setting(environment, 'AGENT_CONFIG_DIR')
  if (variable !== undefined) return within(variable, 'folder named by AGENT_CONFIG_DIR')
  const folder = join(setting(environment, 'HOME') ?? homeOfUser(), '.agent')
  return within(folder, 'by default ~/.agent, --config-dir or AGENT_CONFIG_DIR name another folder')
}

/** @throws UsageError for a user id without an entry in the system's list of users. */
function homeOfUser(): string {
  try {
    return userInfo().homedir
  } catch (cause) {
    throw new UsageError('this user has no home folder', {
      hint: 'Set HOME, or name the folder of the settings with --config-dir.',
      cause,
    })
  }
}

const options = {
  ...settingsOptions,
  'dry-run': flag('show what would change, and change nothing'),
}

const installCommand = dataCommand({
  examples: {
    '$0 hooks install': 'register the default events for this user',
    '$0 hooks install --project --dry-run': 'show what would change for the project in this folder',
    '$0 hooks install --events Stop,PostToolUse --config-dir ~/.agent': 'register other events',
  },
  options: {
    ...options,
    events: textOr(
      DEFAULT_EVENTS.join(','),
      `events, separated by commas: ${HOOK_EVENTS.join(', ')}`,
    ),
  },
  run: (flags, terminal) => {
    const events = listOf(flags.events, '--events', 'event', HOOK_EVENTS).filter(isHookEvent)
    return async (config) => {
      const place = await settingsPlace(flags, terminal, config.dataFolder)
      const { file, line } = place
      const { text, changes, created } = edited(file, (before) => install(before, events, line))
      const change = await apply(file, text, flags.dryRun, terminal.now)
      if (change.isWritten) {
        await noteCreated(hookFolders(config.dataFolder), file.path, created)
        keepOutOfGit(config.dataFolder)
      }
      return outputOf(place, change, { command: line, events: changes }, [
        `command   ${line}`,
        ...Object.entries(changes).map(([event, what]) => `${event.padEnd(14)}${what}`),
        ...missingVariables(config.hooks, terminal.environment).map(({ variable, channel }) => {
          const where = `channel '${channel}' needs it where the agent runs`
          return `warning   ${variable} is not set here; ${where}`
        }),
      ])
    }
  },
})

const uninstallCommand = dataCommand({
  examples: {
    '$0 hooks uninstall': 'remove what install added to the settings of this user',
    '$0 hooks uninstall --project --dry-run': 'show what would change for the project',
  },
  options,
  run:
    (flags, terminal) =>
    async ({ dataFolder }) => {
      const place = await settingsPlace(flags, terminal, dataFolder)
      const { file } = place
      const folders = hookFolders(dataFolder)
      const created = (await readInstalled(folders))[file.path]?.created ?? null
      const { text, removed } = edited(file, (before) => uninstall(before, created))
      const change = await apply(file, text, flags.dryRun, terminal.now)
      if (change.isWritten && created !== null) await noteCreated(folders, file.path, null)
      const none = ['nothing is registered there']
      const lines = removed.map((event) => `${event.padEnd(14)}removed`)
      return outputOf(place, change, { removed }, removed.length === 0 ? none : lines)
    },
})

/** Writes the settings, unless they are unchanged. `diff`: what would change; empty if it is written. */
async function apply(file: SettingsFile, text: string, isDryRun: boolean, now: Terminal['now']) {
  if (text === (file.text ?? NO_SETTINGS)) return { isWritten: false, backup: null, diff: [] }
  if (isDryRun) return { isWritten: false, backup: null, diff: diffLines(file.text ?? '', text) }
  return { isWritten: true, backup: await writeSettings(file, text, now()), diff: [] }
}

function outputOf(
  { file: { path }, why }: Awaited<ReturnType<typeof settingsPlace>>,
  { isWritten, backup, diff }: Awaited<ReturnType<typeof apply>>,
  json: object,
  lines: readonly string[],
): Output {
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

const LISTED = 5

const statusCommand = dataCommand({
  examples: {
    '$0 hooks status': 'show what is registered, what is waiting, and what failed and why',
    '$0 hooks status --project --json': 'show the same for this project, as JSON',
  },
  options: settingsOptions,
  run: (flags, terminal) => async (config) => {
    const { file, why } = await settingsPlace(flags, terminal, config.dataFolder)
    const folders = hookFolders(config.dataFolder)
    const events = await eventsStatus(folders, edited(file, registeredIn))
    const spool = await spoolStatus(folders)
    const delivery = await deliveryStatus(folders, terminal.now())
    const missing = missingVariables(config.hooks, terminal.environment)
    const errors = await lastErrors(folders, LISTED)
    const json = {
      settings: file.path,
      chosen: why,
      events,
      spool,
      undelivered: {
        inbox: delivery.inbox,
        waiting: delivery.waiting.map(itemJson),
        failed: delivery.failed.map(itemJson),
        sender_at_work: delivery.isSenderAtWork,
      },
      missing_variables: missing,
      errors,
    }
    const lines = [
      `settings   ${file.path} (${why})`,
      ...events.map((event) => eventLine(event, config.dataFolder)),
      `spool      ${counted(spool.files, 'event')}, ${size(spool.bytes)}, until the next sync or build`,
      ...deliveryLines(delivery),
      ...missing.map(
        ({ channel, variable }) => `warning    ${variable} of channel '${channel}' is not set here`,
      ),
      ...errors.map((line) => `error      ${line}`),
    ]
    return { json, text: `${lines.join('\n')}\n` }
  },
})

/**
 * Used for `--help` and `--debug hooks run`. For the registered command, `main.ts` bypasses
 * the parser.
 */
const runCommand = defineCommand({
  examples: {
    [`echo '{"hook_event_name":"Stop"}' | $0 hooks run`]:
      'what the agent runs; always exits with 0',
  },
  options: dataOptions,
  run: (_, { environment, cwd }) => hooksRun(process.argv, { ...environment }, cwd),
})

export const hooks: readonly Entry[] = [
  ['install', "register hooks in the agent's settings file", installCommand],
  ['uninstall', 'remove what install added to the settings file', uninstallCommand],
  ['status', 'show what is registered, recorded and not yet delivered', statusCommand],
  ['test <channel>', 'send one notification to a channel', hooksTestCommand],
  ['flush', 'deliver the waiting notifications', hooksFlushCommand],
  ['run', 'record one event from standard input (the agent runs this)', runCommand],
]

function itemJson({ id, channel, event, recorded_at, attempts, next_at, error }: Notification) {
  const next = new Date(next_at).toISOString()
  return { id, channel, event, recorded_at, attempts, next_at: next, error }
}

function eventLine(
  { event, command, problem, last_event_at: at }: EventStatus,
  dataFolder: string,
): string {
  const last = at === null ? 'never received' : `last received ${toSecond(at)}`
  if (command === null) return `${event.padEnd(14)}not installed, ${last}`
  const other = readCommandLine(command)?.dataFolder
  const elsewhere = other === dataFolder ? '' : `, records in another data folder: ${other ?? '?'}`
  const state = problem === null ? 'installed' : `installed, but cannot be run: ${problem}`
  return `${event.padEnd(14)}${state}, ${last}${elsewhere}`
}

function deliveryLines({ inbox, waiting, failed, isSenderAtWork }: DeliveryStatus): string[] {
  const sender = isSenderAtWork ? ', a sender is at work' : ''
  const given = `${counted(failed.length, 'notification')}; hooks flush --failed retries them`
  return [
    `delivery   ${counted(inbox + waiting.length, 'undelivered notification')}${sender}`,
    ...waiting.slice(0, LISTED).map((item) => `  waits    ${itemText(item)}`),
    ...(failed.length === 0 ? [] : [`failed     ${given}`]),
    ...failed.slice(-LISTED).map((item) => `  failed   ${itemText(item)}`),
  ]
}

function itemText({ event, channel, recorded_at, attempts, error }: Notification): string {
  const tried = `${counted(attempts, 'attempt')}${error === null ? '' : `: ${error}`}`
  return `${event} of ${toSecond(recorded_at)} to '${channel}', ${tried}`
}

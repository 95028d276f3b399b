import { ExitCode, UsageError } from '../lib/errors.ts'
import { missingVariables } from '../hooks/variables.ts'
import { diffLines } from '../hooks/diff.ts'
import { DEFAULT_EVENTS, HOOK_EVENTS, isHookEvent, type HookEventName } from '../hooks/events.ts'
import { hookFolders } from '../hooks/folders.ts'
import { createdIn, noteCreated } from '../hooks/installed.ts'
import {
  edited,
  NO_SETTINGS,
  readSettings,
  writeSettings,
  type SettingsFile,
} from '../hooks/settings-file.ts'
import { install, uninstall } from '../hooks/settings.ts'
import { keepOutOfGit } from '../lake/data-folder.ts'
import { defineCommand, flag, jsonOf, textOr, type Terminal } from './command.ts'
import { hookOf, settingsOptions, settingsPlace, type SettingsPlace } from './hooks-place.ts'

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

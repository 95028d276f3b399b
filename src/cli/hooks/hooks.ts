import { readCommandLine } from '../../hooks/command-line.ts'
import { hookFolders } from '../../hooks/record.ts'
import type { Notification } from '../../hooks/outbox.ts'
import { edited } from '../../hooks/settings-file.ts'
import { registeredIn } from '../../hooks/settings.ts'
import {
  deliveryStatus,
  eventsStatus,
  lastErrors,
  spoolStatus,
  type DeliveryStatus,
  type EventStatus,
} from '../../hooks/status.ts'
import { missingVariables } from '../../notify/channels.ts'
import { size, counted } from '../../lib/text.ts'
import { toSecond } from '../../observe/words.ts'
import { dataOptions, defineCommand, type Group } from '../command.ts'
import {
  hooksInstallCommand,
  hooksUninstallCommand,
  settingsOptions,
  settingsPlace,
} from './install.ts'
import { hooksRun } from './run.ts'
import { hooksFlushCommand, hooksTestCommand } from './send.ts'

const LISTED = 5

const statusCommand = defineCommand({
  examples: [
    ['$0 hooks status', 'show what is registered, what is waiting, and what failed and why'],
    ['$0 hooks status --project --json', 'show the same for this project, as JSON'],
  ],
  options: settingsOptions,
  run: async (flags, terminal) => {
    const { config, file, why } = await settingsPlace(flags, terminal)
    const folders = hookFolders(config.dataFolder)
    const events = await eventsStatus(folders, edited(file, registeredIn))
    const spool = await spoolStatus(folders)
    const delivery = await deliveryStatus(folders, Date.now())
    const missing = missingVariables(config.hooks, terminal.environment)
    const errors = await lastErrors(folders, LISTED)
    const json = {
      settings: file.path,
      chosen: why,
      events: events.map(eventJson),
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
  examples: [
    [
      `echo '{"hook_event_name":"Stop"}' | $0 hooks run`,
      'what the agent runs; always exits with 0',
    ],
  ],
  options: dataOptions,
  run: (_, { environment, cwd }) => hooksRun(process.argv, { ...environment }, cwd),
})

export const hooks: Group = {
  entries: [
    ['install', "register hooks in the agent's settings file", hooksInstallCommand],
    ['uninstall', 'remove what install added to the settings file', hooksUninstallCommand],
    ['status', 'show what is registered, recorded and not yet delivered', statusCommand],
    ['test <channel>', 'send one notification to a channel', hooksTestCommand],
    ['flush', 'deliver the waiting notifications', hooksFlushCommand],
    ['run', 'record one event from standard input (the agent runs this)', runCommand],
  ],
}

function eventJson({ event, command, problem, lastAt }: EventStatus): object {
  const installed = command !== null
  const runnable = installed && problem === null
  return { event, installed, runnable, problem, command, last_event_at: lastAt }
}

function itemJson({ id, channel, event, recorded_at, attempts, next_at, error }: Notification) {
  const next = new Date(next_at).toISOString()
  return { id, channel, event, recorded_at, attempts, next_at: next, error }
}

function eventLine({ event, command, problem, lastAt }: EventStatus, dataFolder: string): string {
  const last = lastAt === null ? 'never received' : `last received ${toSecond(lastAt)}`
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

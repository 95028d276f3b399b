import { randomUUID } from 'node:crypto'
import type { Config } from '../../config/config.ts'
import { AppError, ExitCode, messageOf, UsageError } from '../../lib/errors.ts'
import { missingIn, type Channel, type Delivery } from '../../notify/channel.ts'
import { channelNamed, type HooksConfig } from '../../hooks/config.ts'
import { deliver } from '../../notify/deliver.ts'
import { hookFolders, logError } from '../../hooks/record.ts'
import { notificationOf } from '../../hooks/queue.ts'
import { send } from '../../hooks/sender.ts'
import { deliveryStatus } from '../../hooks/status.ts'
import { suggestion } from '../../lib/text.ts'
import type { World } from '../../lib/world.ts'
import {
  argument,
  configured,
  dataCommand,
  dataOptions,
  defineCommand,
  flag,
  jsonOption,
  type Output,
  type Flags,
  type Terminal,
} from '../command.ts'
import { createWorld, showingWarnings } from '../world.ts'

const TIMEOUT_MS = 15_000

const flushOptions = {
  ...dataOptions,
  ...jsonOption,
  failed: flag('also retry notifications that were given up'),
  detached: { type: 'boolean', default: false, hidden: true },
} as const

type FlushFlags = Flags<typeof flushOptions>

export const hooksFlushCommand = defineCommand({
  examples: {
    '$0 hooks flush': 'deliver waiting notifications, and say how many are left',
    '$0 hooks flush --failed': 'after fixing the cause, also retry those that were given up',
  },
  options: flushOptions,
  run: async (flags, terminal) => {
    if (!flags.detached) return flush(flags, terminal)
    try {
      await flush(flags, terminal)
    } catch (error) {
      // a detached process can only report errors in the log; every sender gets its folder
      const folders = hookFolders(flags.data ?? terminal.cwd)
      logError(folders, terminal.now(), `hooks flush: ${messageOf(error)}`)
    }
    return ExitCode.complete
  },
})

async function flush(flags: FlushFlags, terminal: Terminal): Promise<Output> {
  const { dataFolder, hooks: config } = configured(flags, terminal)
  const folders = hookFolders(dataFolder)
  return delivering(terminal, async (delivery) => {
    const sending = { ...delivery, folders, config, retryFailed: flags.failed }
    const { delivered, failed, isOwn } = await send(sending)
    const left = await deliveryStatus(folders, delivery.world.now())
    const waiting = left.inbox + left.waiting.length
    const isDone = failed + waiting === 0 && (isOwn || !flags.failed)
    const counts = `delivered ${delivered}, given up ${failed}, waiting ${waiting}\n`
    const repeat = flags.failed
      ? ', so given-up notifications are not retried: run this again later'
      : ''
    return {
      json: { delivered, failed, waiting, other_sender: !isOwn },
      text: isOwn ? counts : `another sender is at work${repeat}; ${counts}`,
      exitCode: isDone ? ExitCode.complete : ExitCode.partial,
    }
  })
}

async function delivering<T>(
  terminal: Terminal,
  work: (delivery: Delivery & { readonly world: World }) => Promise<T>,
): Promise<T> {
  const { world, close } = createWorld(showingWarnings(terminal), terminal)
  const { platform } = process
  return work({
    world,
    environment: terminal.environment,
    platform,
    timeoutMs: TIMEOUT_MS,
  }).finally(close)
}

export const hooksTestCommand = dataCommand({
  examples: {
    '$0 hooks test team': "send one notification to the channel 'team' and wait for the result",
  },
  options: {
    ...jsonOption,
    channel: argument('name of a configured channel'),
  },
  run:
    ({ channel: name, json }, terminal) =>
    async (config) => {
      const channel = channelOf(config, name, terminal)
      const attempt = await delivering(terminal, (delivery) => {
        const item = sample(name, config.hooks, delivery.world.now(), terminal.cwd)
        return deliver(channel, item, delivery)
      })
      const { type } = channel
      const reason = attempt.kind === 'delivered' ? null : attempt.reason
      const delivered = reason === null
      if (!delivered && !json)
        throw new AppError(`'${name}' (${type}) was not delivered: ${reason}`)
      return {
        json: { channel: name, type, delivered, reason },
        text: `delivered to '${name}' (${type})\n`,
        exitCode: delivered ? ExitCode.complete : ExitCode.unexpected,
      }
    },
})

function channelOf(config: Config, name: string, terminal: Terminal): Channel {
  const channel = channelNamed(config.hooks, name)
  if (channel === undefined) {
    const meant = suggestion(name, Object.keys(config.hooks.channels))
    throw new UsageError(`there is no channel '${name}'`, {
      hint: `${meant} Channels are configured under hooks.channels.`,
    })
  }
  const [variable] = missingIn(channel, terminal.environment)
  if (variable === undefined) return channel
  throw new UsageError(`channel '${name}': ${variable} is not set`, {
    hint: `Set it here and in the environment that the agent runs in: export ${variable}=…`,
  })
}

function sample(channel: string, config: HooksConfig, now: number, cwd: string) {
  const name = 'Notification' as const
  const message = 'This is a test of the notifications.'
  const input = JSON.stringify({ hook_event_name: name, session_id: 'test', cwd, message })
  const event = { eventId: randomUUID(), recordedAt: now, name, sessionId: 'test', cwd, message }
  return notificationOf({ ...event, reason: '', isFailure: false, input }, channel, config, now)
}

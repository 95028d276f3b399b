import { fieldOf } from '../../client/index.ts'
import { ExitCode } from '../../lib/errors.ts'
import type { Command, OptionsOf } from '../command.ts'
import { changeOptions, mayChange, requireConsent, type Ask } from './confirm.ts'
import type { Advice } from './failures.ts'
import { platformOptions, withPlatform, type Clean, type Platform } from './platform.ts'
import { poll, pollingOf, pollOptions } from './poll.ts'
import { itemJson, proseText, textOf, valueJson } from './render.ts'
import { sessionText } from './session-text.ts'
import type { Argv } from 'yargs'

/** What to do next after a request about a session. */
export const ON_SESSIONS: Advice = {
  404: 'The platform does not list sessions: their ids are in hook events, in the install steps of computers, and in child sessions.',
}

const ON_INTERRUPT: Advice = {
  ...ON_SESSIONS,
  403: 'The platform lets selected organisations interrupt sessions, and keys of some roles.',
}

/** The session that a command is about. */
export const sessionOptions = (yargs: Argv) =>
  platformOptions(yargs)
    .positional('session', { type: 'string', demandOption: true, describe: 'its id' })
    .option('computer', {
      type: 'string',
      requiresArg: true,
      describe: 'the id of a computer to ask directly',
    })

const interruptOptions = (yargs: Argv) => changeOptions(sessionOptions(yargs))

const watchOptions = (yargs: Argv) => pollOptions(sessionOptions(yargs), '1h')

export const showSession: Command<OptionsOf<typeof sessionOptions>> = {
  examples: [
    ['$0 sessions show 15f3033e-843f-4cb8-a4c3-5b4134c21f2a', 'state, tokens, tags'],
    ['$0 sessions show 15f3033e-843f-4cb8-a4c3-5b4134c21f2a --json', 'as served'],
  ],
  options: sessionOptions,
  run: async (flags, terminal) =>
    withPlatform(flags, terminal, { advice: ON_SESSIONS }, async (platform) => {
      const { text, value } = await sessionOf(platform, flags)
      terminal.out(flags.json ? itemJson(text) : sessionText(value))
      return ExitCode.complete
    }),
}

export const interruptSession: Command<OptionsOf<typeof interruptOptions>> = {
  examples: [
    [
      '$0 sessions interrupt 15f3033e-843f-4cb8-a4c3-5b4134c21f2a',
      'nothing happens to an idle one',
    ],
  ],
  options: interruptOptions,
  run: async (flags, terminal) => {
    requireConsent(flags, terminal)
    return withPlatform(flags, terminal, { advice: ON_INTERRUPT }, async (platform) => {
      const before = await sessionOf(platform, flags)
      const ask: Ask = (client) => client.sessions.interrupt(flags.session)
      const what = `interrupt the session ${nameOf(before.value)}, which is ${statusOf(before)}`
      if (!(await mayChange(platform, flags, terminal, { what, asks: [ask] }))) {
        return ExitCode.complete
      }
      await ask(platform.client)
      const after = await sessionOf(platform, flags)
      const [was, is] = [statusOf(before), statusOf(after)]
      terminal.out(
        flags.json
          ? valueJson({ session_id: flags.session, status_before: was, status: is })
          : proseText(`The session ${nameOf(after.value)} was ${was} and is ${is}`),
      )
      return ExitCode.complete
    })
  },
}

export const watchSession: Command<OptionsOf<typeof watchOptions>> = {
  examples: [['$0 sessions watch 15f3033e-843f-4cb8-a4c3-5b4134c21f2a', 'until it is idle']],
  options: watchOptions,
  run: async (flags, terminal) => {
    const polling = pollingOf(flags)
    const conversation = { advice: ON_SESSIONS, patienceMs: polling.patienceMs }
    return withPlatform(flags, terminal, conversation, async (platform) => {
      const { text, value } = await poll(platform, polling, async () => {
        const session = await sessionOf(platform, flags)
        const messages = textOf(fieldOf(session.value, 'messageCount'))
        const status = statusOf(session)
        const state = `${nameOf(session.value)} is ${status}, ${messages} messages`
        return status === 'idle' ? { state, outcome: session } : { state }
      })
      terminal.out(flags.json ? itemJson(text) : sessionText(value))
      return ExitCode.complete
    })
  },
}

interface SessionFlags {
  readonly session: string
  readonly computer?: string | undefined
}

/** The session as it is now. */
export async function sessionOf(
  { client, clean }: Platform,
  { session, computer }: SessionFlags,
): Promise<Clean> {
  const on = computer === undefined ? {} : { computerId: computer }
  const { items } = await client.sessions.fetch(session, on)
  return clean('sessions', { text: items[0]?.text ?? '{}' })
}

/** Its title and id, for people. */
export function nameOf(session: unknown): string {
  const title = fieldOf(session, 'title')
  const id = textOf(fieldOf(session, 'sessionId'))
  return title === undefined ? id : `'${textOf(title)}' (${id})`
}

function statusOf({ value }: Clean): string {
  return textOf(fieldOf(value, 'status'))
}

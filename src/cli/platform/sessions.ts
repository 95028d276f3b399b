import { fieldOf } from '../../client/index.ts'
import { ExitCode } from '../../lib/errors.ts'
import { argument, defineCommand, text, type Flags } from '../command.ts'
import { changeOptions, mayChange, requireConsent, type Ask } from './confirm.ts'
import type { Advice } from './failures.ts'
import { platformOptions, withPlatform, type Clean, type Platform } from './platform.ts'
import { poll, pollingOf, pollOptions } from './poll.ts'
import { itemJson, proseText, textOf, valueJson } from './render.ts'
import { sessionText } from './session-text.ts'

/** What to do next after a request about a session. */
export const ON_SESSIONS: Advice = {
  404: 'The platform does not list sessions: their ids are in hook events, in the install steps of computers, and in child sessions.',
}

const ON_INTERRUPT: Advice = {
  ...ON_SESSIONS,
  403: 'The platform lets selected organisations interrupt sessions, and keys of some roles.',
}

/** The session that a command is about. */
export const sessionArgument = { session: argument('its id') }

export const onComputer = { computer: text('the id of a computer to ask directly') }

export const showSession = defineCommand({
  examples: [
    ['$0 sessions show 15f3033e-843f-4cb8-a4c3-5b4134c21f2a', 'state, tokens, tags'],
    ['$0 sessions show 15f3033e-843f-4cb8-a4c3-5b4134c21f2a --json', 'as served'],
  ],
  options: { ...platformOptions, ...onComputer, ...sessionArgument },
  run: (flags, terminal) =>
    withPlatform(flags, terminal, { advice: ON_SESSIONS }, async (platform) => {
      const session = await sessionOf(platform, flags)
      return flags.json ? itemJson(session.text) : sessionText(session.value)
    }),
})

export const interruptSession = defineCommand({
  examples: [
    [
      '$0 sessions interrupt 15f3033e-843f-4cb8-a4c3-5b4134c21f2a',
      'nothing happens to an idle one',
    ],
  ],
  options: { ...platformOptions, ...onComputer, ...changeOptions, ...sessionArgument },
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
      return flags.json
        ? valueJson({ session_id: flags.session, status_before: was, status: is })
        : proseText(`The session ${nameOf(after.value)} was ${was} and is ${is}`)
    })
  },
})

export const watchSession = defineCommand({
  examples: [['$0 sessions watch 15f3033e-843f-4cb8-a4c3-5b4134c21f2a', 'until it is idle']],
  options: { ...platformOptions, ...onComputer, ...pollOptions('1h'), ...sessionArgument },
  run: async (flags, terminal) => {
    const polling = pollingOf(flags)
    const conversation = { advice: ON_SESSIONS, patienceMs: polling.patienceMs }
    return withPlatform(flags, terminal, conversation, async (platform) => {
      const idle = await poll(platform, polling, async () => {
        const session = await sessionOf(platform, flags)
        const messages = textOf(fieldOf(session.value, 'messageCount'))
        const status = statusOf(session)
        const state = `${nameOf(session.value)} is ${status}, ${messages} messages`
        return status === 'idle' ? { state, outcome: session } : { state }
      })
      return flags.json ? itemJson(idle.text) : sessionText(idle.value)
    })
  },
})

type SessionFlags = Flags<typeof onComputer & typeof sessionArgument>

/** Where to ask: the platform itself, or the computer that is named. */
export function placeOf({ computer }: SessionFlags): { readonly computerId?: string } {
  return computer === undefined ? {} : { computerId: computer }
}

/** The session as it is now. */
async function sessionOf({ client, clean }: Platform, flags: SessionFlags): Promise<Clean> {
  const { items } = await client.sessions.fetch(flags.session, placeOf(flags))
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

import { fieldOf } from '../../client/index.ts'
import { ExitCode } from '../../lib/errors.ts'
import { argument, defineCommand, text, type Flags } from '../command.ts'
import { changeOptions, mayChange, requireConsent, type Ask } from './change.ts'
import {
  type Advice,
  platformOptions,
  withPlatform,
  type Clean,
  type Platform,
} from './platform.ts'
import { poll, pollingOf, pollOptions } from './poll.ts'
import {
  itemJson,
  proseText,
  textOf,
  valueJson,
  fieldsText,
  listAt,
  objectOf,
  timeOf,
} from './render.ts'
import { duration } from '../../observe/words.ts'

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

const TOKENS = [
  ['inputTokens', 'input'],
  ['outputTokens', 'output'],
  ['cacheCreationTokens', 'cache creation'],
  ['cacheReadTokens', 'cache read'],
  ['thinkingTokens', 'thinking'],
  ['serviceCredits', 'credits'],
] as const

/** One session, a field a line. */
export function sessionText(session: unknown): string {
  const settings = fieldOf(session, 'sessionSettings')
  const active = fieldOf(settings, 'assistantActiveTimeMs')
  const children = fieldOf(settings, 'childInclusiveTokenUsageBySessionId')
  return fieldsText([
    ['session', fieldOf(session, 'sessionId')],
    ['title', fieldOf(session, 'title')],
    ['status', fieldOf(session, 'status')],
    ['messages', fieldOf(session, 'messageCount')],
    ['created at', timeOf(fieldOf(session, 'createdAt'))],
    ['updated at', timeOf(fieldOf(session, 'updatedAt'))],
    ['completed at', timeOf(fieldOf(session, 'completedAt'))],
    ['archived at', timeOf(fieldOf(settings, 'archivedAt'))],
    ['computer', fieldOf(session, 'computerId')],
    ['model', fieldOf(settings, 'model')],
    ['spec mode model', fieldOf(settings, 'specModeModel')],
    ['assistant active', typeof active === 'number' ? duration(active) : active],
    ['tags', listed(listAt(settings, 'tags').map((tag) => fieldOf(tag, 'name')))],
    ['enabled tools', listed(listAt(settings, 'enabledToolIds'))],
    ['disabled tools', listed(listAt(settings, 'disabledToolIds'))],
    ['tokens', usageText(fieldOf(settings, 'tokenUsage'))],
    ['with children', usageText(fieldOf(settings, 'inclusiveTokenUsage'))],
    ['child sessions', listed(Object.keys(objectOf(children)))],
  ])
}

function usageText(usage: unknown): string | undefined {
  return listed(
    TOKENS.flatMap(([field, name]) => {
      const count = fieldOf(usage, field)
      return count === undefined ? [] : [`${name} ${textOf(count)}`]
    }),
  )
}

function listed(values: readonly unknown[]): string | undefined {
  return values.length === 0 ? undefined : values.map(textOf).join(', ')
}

export const showMessage = defineCommand({
  examples: [
    [
      '$0 messages show 15f3033e-843f-4cb8-a4c3-5b4134c21f2a a51ef6cc-21e1-4fc7-aee4-e08087433ff7',
      'who, when, and the text',
    ],
    [
      '$0 messages show 15f3033e-843f-4cb8-a4c3-5b4134c21f2a a51ef6cc-21e1-4fc7-aee4-e08087433ff7 --json',
      'as served',
    ],
  ],
  options: { ...platformOptions, ...onComputer, ...sessionArgument, message: argument('its id') },
  run: (flags, terminal) =>
    withPlatform(flags, terminal, { advice: ON_SESSIONS }, async ({ client, clean }) => {
      const on = placeOf(flags)
      const { items } = await client.sessions.fetchMessage(flags.session, flags.message, on)
      return items
        .map((item) => clean('messages', item))
        .map(({ text, value }) => (flags.json ? itemJson(text) : messageText(value)))
        .join('')
    }),
})

function messageText(message: unknown): string {
  const header = fieldsText([
    ['message', fieldOf(message, 'id')],
    ['role', fieldOf(message, 'role')],
    ['source', fieldOf(message, 'userMessageSource')],
    ['visibility', fieldOf(message, 'visibility')],
    ['answers', fieldOf(message, 'parentId')],
    ['created at', timeOf(fieldOf(message, 'createdAt'))],
    ['updated at', timeOf(fieldOf(message, 'updatedAt'))],
    ['is an error', fieldOf(message, 'isError')],
  ])
  return [header, ...listAt(message, 'content').map(blockText)].join('\n')
}

/** Blocks of other types are not documented: their type is said, --json shows them. */
function blockText(block: unknown): string {
  const text = fieldOf(block, 'text')
  return proseText(typeof text === 'string' ? text : `[${textOf(fieldOf(block, 'type'))}]`)
}

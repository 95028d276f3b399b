import { fieldOf } from '../../client/index.ts'
import { ExitCode } from '../../lib/errors.ts'
import { parseExactly } from '../../lib/json.ts'
import { duration } from '../../observe/words.ts'
import { argument, type Group } from '../command.ts'
import { changeOptions, mayChange, type Ask } from './change.ts'
import { platformCommand } from './platform.ts'
import { patienceOf, poll, pollOptions } from './poll.ts'
import {
  epochTime,
  fieldsOf,
  fieldsText,
  listAt,
  objectOf,
  proseText,
  textOf,
  timeOf,
} from './render.ts'
import {
  nameOf,
  ON_SESSIONS,
  onComputer,
  placeOf,
  sessionArgument,
  sessionOf,
  updateSession,
} from './session-update.ts'

const SESSION = '15f3033e-843f-4cb8-a4c3-5b4134c21f2a'
const MESSAGE = `${SESSION} a51ef6cc-21e1-4fc7-aee4-e08087433ff7`

const showSession = platformCommand({
  examples: [
    [`$0 sessions show ${SESSION}`, 'show state, tokens and tags'],
    [`$0 sessions show ${SESSION} --json`, 'show it as JSON as served'],
  ],
  options: { ...onComputer, ...sessionArgument },
  advice: ON_SESSIONS,
  work: (flags) => async (platform) => {
    const session = await sessionOf(platform, flags)
    return { json: session.text, text: sessionText(parseExactly(session.text)) }
  },
})

const interruptSession = platformCommand({
  examples: [
    [`$0 sessions interrupt ${SESSION}`, 'interrupt a session; an idle session stays as it is'],
  ],
  options: { ...onComputer, ...changeOptions, ...sessionArgument },
  advice: {
    ...ON_SESSIONS,
    403: 'Only selected organisations, and keys of certain roles, may interrupt sessions.',
  },
  work: (flags) => async (platform) => {
    const { value: before } = await sessionOf(platform, flags)
    const ask: Ask = (client) => client.sessions.interrupt(flags.session)
    const was = statusOf(before)
    const what = `interrupt the session ${nameOf(before)}, which is ${was}`
    if (!(await mayChange(platform, what, [ask]))) return ExitCode.complete
    await ask(platform.client)
    const { value: after } = await sessionOf(platform, flags)
    const is = statusOf(after)
    return {
      json: { session_id: flags.session, status_before: was, status: is },
      text: proseText(`The session ${nameOf(after)} was ${was} and is ${is}`),
    }
  },
})

const watchSession = platformCommand({
  examples: [[`$0 sessions watch ${SESSION}`, 'wait until the session is idle']],
  options: { ...onComputer, ...pollOptions('1h'), ...sessionArgument },
  advice: ON_SESSIONS,
  patienceOf,
  work: (flags) => async (platform) => {
    const idle = await poll(platform, flags, async () => {
      const session = await sessionOf(platform, flags)
      const messages = textOf(fieldOf(session.value, 'messageCount'))
      const status = statusOf(session.value)
      const state = `${nameOf(session.value)} is ${status}, ${messages} messages`
      return status === 'idle' ? { state, outcome: session } : { state }
    })
    return { json: idle.text, text: sessionText(parseExactly(idle.text)) }
  },
})

export const sessions: Group = {
  entries: [
    ['show <session>', 'show the state, tokens and tags of a session', showSession],
    ['update <session>', 'change the model, tags and other settings of a session', updateSession],
    ['interrupt <session>', 'interrupt the agent of a session', interruptSession],
    ['watch <session>', 'wait until a session is idle', watchSession],
  ],
}

const showMessage = platformCommand({
  examples: [
    [`$0 messages show ${MESSAGE}`, 'show author, time and text'],
    [`$0 messages show ${MESSAGE} --json`, 'show it as JSON as served'],
  ],
  options: { ...onComputer, ...sessionArgument, message: argument('its id') },
  advice: ON_SESSIONS,
  work: (flags) => async (platform) => {
    const { session, message: id } = flags
    const { items } = await platform.client.sessions.fetchMessage(session, id, placeOf(flags))
    const message = platform.clean('messages', items[0]?.text ?? '{}')
    return { json: message.text, text: messageText(message.value) }
  },
})

export const messages: Group = {
  entries: [
    ['show <session> <message>', 'show the author, time and text of a message', showMessage],
  ],
}

function statusOf(session: unknown): string {
  return textOf(fieldOf(session, 'status'))
}

function sessionText(session: unknown): string {
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

const TOKENS = {
  inputTokens: 'input',
  outputTokens: 'output',
  cacheCreationTokens: 'cache creation',
  cacheReadTokens: 'cache read',
  thinkingTokens: 'thinking',
  serviceCredits: 'credits',
}

function usageText(usage: unknown): string | undefined {
  const counts = Object.entries(TOKENS).map(
    ([field, name]) => [name, fieldOf(usage, field)] as const,
  )
  const known = counts.filter(([, count]) => count !== undefined)
  return listed(known.map(([name, count]) => `${name} ${textOf(count)}`))
}

function listed(values: readonly unknown[]): string | undefined {
  return values.length === 0 ? undefined : values.map(textOf).join(', ')
}

function messageText(message: unknown): string {
  const [created, updated] = fieldsOf(message, 'createdAt', 'updatedAt').map(epochTime)
  const header = fieldsText([
    ['message', fieldOf(message, 'id')],
    ['role', fieldOf(message, 'role')],
    ['source', fieldOf(message, 'userMessageSource')],
    ['visibility', fieldOf(message, 'visibility')],
    ['answers', fieldOf(message, 'parentId')],
    ['created at', created],
    ['updated at', updated],
    ['is an error', fieldOf(message, 'isError')],
  ])
  return [header, ...listAt(message, 'content').map(blockText)].join('\n')
}

/** Blocks of other types are not documented, so only their type is shown; --json shows all. */
function blockText(block: unknown): string {
  const text = fieldOf(block, 'text')
  return proseText(typeof text === 'string' ? text : `[${textOf(fieldOf(block, 'type'))}]`)
}

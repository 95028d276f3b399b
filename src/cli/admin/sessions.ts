import {
  fieldOf,
  type ApiClient,
  type ServedRow,
  type Session,
  type SessionSettingsPatch,
} from '../../client/index.ts'
import { ExitCode, UsageError } from '../../lib/errors.ts'
import { jsonObject, parseExactly, parseKept, parseMarked } from '../../lib/json.ts'
import { duration } from '../../observe/words.ts'
import { argument, text, texts, type Flags, type Entry, type Terminal } from '../command.ts'
import {
  changeOptions,
  mayChange,
  platformCommand,
  type Advice,
  type Ask,
  type Platform,
} from './platform.ts'
import { patienceOf, poll, pollOptions } from './poll.ts'
import {
  epochTime,
  fieldsOf,
  fieldsText,
  listAt,
  objectOf,
  proseText,
  sentenceText,
  tableText,
  textOf,
  timeOf,
  type Clean,
} from './render.ts'
import { changesBetween, type SettingChange } from './settings-paths.ts'

/** What to do next after a request about a session. */
const ON_SESSIONS: Advice = {
  404: 'The platform does not list sessions. Their ids are in hook events, in the install steps of computers, and in other sessions.',
}

const sessionOptions = {
  computer: text('id of a computer, to request the session from it directly'),
  session: argument('id of the session'),
}

type SessionFlags = Flags<typeof sessionOptions>

async function sessionOf({ client, clean }: Platform, flags: SessionFlags): Promise<Clean> {
  const { items } = await client.sessions.fetch(flags.session, { computerId: flags.computer })
  return clean('sessions', items[0]?.text ?? '{}')
}

function nameOf(session: unknown): string {
  const title = fieldOf(session, 'title')
  const id = textOf(fieldOf(session, 'sessionId'))
  return title === undefined || title === null ? id : `'${textOf(title)}' (${id})`
}

const SESSION = '15f3033e-843f-4cb8-a4c3-5b4134c21f2a'
const MESSAGE = `${SESSION} a51ef6cc-21e1-4fc7-aee4-e08087433ff7`

const showSession = platformCommand({
  examples: {
    [`$0 sessions show ${SESSION}`]: 'show the state, tokens and tags of a session',
    [`$0 sessions show ${SESSION} --json`]: 'show the session as raw JSON',
  },
  options: sessionOptions,
  advice: ON_SESSIONS,
  work: (flags) => async (platform) => {
    const session = await sessionOf(platform, flags)
    return { json: session.text, text: sessionText(parseExactly(session.text)) }
  },
})

const patchOptions = {
  model: text('model of the session'),
  'spec-model': text('model of the spec mode'),
  tag: texts('a tag to add; can be repeated'),
  untag: texts('a tag to remove; can be repeated'),
  archive: { type: 'boolean', describe: 'archive the session' },
  settings: text('other settings as a JSON object, such as {"disabledToolIds":["WebSearch"]}'),
} as const

const UPDATE = `$0 sessions update ${SESSION}`

const updateSession = platformCommand({
  examples: {
    [`${UPDATE} --model atlas-2 --tag release --tag urgent`]: 'change the model and add two tags',
    [`${UPDATE} --archive --yes`]: 'archive a session from a script',
    [`${UPDATE} --settings '{"disabledToolIds":["WebSearch"]}' --dry-run`]:
      'show what another setting would change',
  },
  options: { ...sessionOptions, ...changeOptions, ...patchOptions },
  advice: ON_SESSIONS,
  work: (flags, terminal) => {
    const plain = plainPatch(flags)
    return async (platform) => {
      const { client, clean, world } = platform
      const { session, computer: computerId } = flags
      const present = await client.sessions.fetchToChange(session, { computerId })
      const patch: SessionSettingsPatch = {
        ...plain,
        ...tagsPatch(present.session, flags.tag ?? [], flags.untag ?? []),
        ...(flags.archive === true ? { archivedAt: new Date(world.now()).toISOString() } : {}),
      }
      const before = clean('sessions', present.text)
      const ask = (to: ApiClient): Promise<ServedRow> => to.sessions.sendUpdate(session, patch)
      const what = `change ${Object.keys(patch).join(', ')} of the session ${nameOf(before.value)}`
      if (!(await mayChange(platform, what, [ask]))) return ExitCode.complete
      const after = clean('sessions', (await ask(client)).text)
      const changes = changesBetween(settingsOf(before), settingsOf(after))
      return {
        json: { session: parseExactly(after.text), changes: changes.map(changeJson) },
        text: changesText(nameOf(after.value), changes, terminal),
      }
    }
  },
})

const interruptSession = platformCommand({
  examples: {
    [`$0 sessions interrupt ${SESSION}`]: 'interrupt a session; an idle session stays as it is',
  },
  options: { ...sessionOptions, ...changeOptions },
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
      text: sentenceText(`The session ${nameOf(after)} was ${was} and is ${is}`),
    }
  },
})

const watchSession = platformCommand({
  examples: { [`$0 sessions watch ${SESSION}`]: 'wait until the session is idle' },
  options: { ...sessionOptions, ...pollOptions('1h') },
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

export const sessions: readonly Entry[] = [
  ['show <session>', 'show the state, tokens and tags of a session', showSession],
  ['update <session>', 'change the model, tags and other settings of a session', updateSession],
  ['interrupt <session>', 'interrupt the agent of a session', interruptSession],
  ['watch <session>', 'wait until a session is idle', watchSession],
]

const showMessage = platformCommand({
  examples: {
    [`$0 messages show ${MESSAGE}`]: 'show the author, time and text of a message',
    [`$0 messages show ${MESSAGE} --json`]: 'show the message as raw JSON',
  },
  options: { ...sessionOptions, message: argument('id of the message') },
  advice: ON_SESSIONS,
  work: (flags) => async (platform) => {
    const { session, message: id, computer: computerId } = flags
    const { items } = await platform.client.sessions.fetchMessage(session, id, { computerId })
    const message = platform.clean('messages', items[0]?.text ?? '{}')
    return { json: message.text, text: messageText(message.value) }
  },
})

export const messages: readonly Entry[] = [
  ['show <session> <message>', 'show the author, time and text of a message', showMessage],
]

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

/** Settings that the platform computes and does not accept. */
const COMPUTED = ['tokenUsage', 'inclusiveTokenUsage']

/**
 * Changes that do not depend on the session.
 *
 * @throws UsageError if there is nothing to change, and if `--settings` has a member that another
 *   option sets, too.
 */
function plainPatch(flags: Flags<typeof patchOptions>): SessionSettingsPatch {
  const { model, specModel: specModeModel, settings } = flags
  const others = settings === undefined ? {} : settingsPatch(settings)
  const options = [
    ['--model', 'model', model !== undefined],
    ['--spec-model', 'specModeModel', specModeModel !== undefined],
    ['--tag', 'tags', flags.tag !== undefined],
    ['--untag', 'tags', flags.untag !== undefined],
    ['--archive', 'archivedAt', flags.archive === true],
  ] as const
  const given = options.filter(([, , isGiven]) => isGiven)
  const [option, name] = given.find((each) => Object.hasOwn(others, each[1])) ?? []
  if (option !== undefined) {
    throw new UsageError(`--settings has '${name}', which ${option} sets, too`, {
      hint: 'Leave out one of the two.',
    })
  }
  if (given.length === 0 && Object.keys(others).length === 0) {
    throw new UsageError('there is nothing to change', {
      hint: 'Give --model, --spec-model, --tag, --untag, --archive or --settings.',
    })
  }
  return {
    ...others,
    ...(model === undefined ? {} : { model }),
    ...(specModeModel === undefined ? {} : { specModeModel }),
  }
}

function settingsPatch(text: string): SessionSettingsPatch {
  const settings = jsonObject(text, parseKept)
  if (settings === undefined) {
    throw new UsageError('--settings: not a JSON object', {
      hint: `For example: --settings '{"model":"atlas-2"}'`,
    })
  }
  const computed = COMPUTED.find((name) => Object.hasOwn(settings, name))
  if (computed === undefined) return settings
  throw new UsageError(`--settings: '${computed}' cannot be set; the platform computes it`)
}

/** Sends the complete list of tags, because existing ones have more fields than a name. */
function tagsPatch(
  session: Session,
  added: readonly string[],
  taken: readonly string[],
): SessionSettingsPatch {
  if (added.length + taken.length === 0) return {}
  const present = session.sessionSettings?.tags ?? []
  const isNamed = (tag: unknown, name: string): boolean => fieldOf(tag, 'name') === name
  const others = present.filter((tag) => !taken.some((name) => isNamed(tag, name)))
  const fresh = [...new Set(added)].filter((name) => !others.some((tag) => isNamed(tag, name)))
  return { tags: [...others, ...fresh.map((name) => ({ name }))] }
}

function changesText(name: string, changes: readonly SettingChange[], terminal: Terminal): string {
  if (changes.length === 0) return sentenceText(`The session ${name} is unchanged`)
  const rows = changes.map(({ path, before, after }) => [path, before, after])
  return `${sentenceText(`The session ${name}`)}\n${tableText(['setting', 'before', 'after'], rows, terminal)}`
}

function changeJson({ path, before, after }: SettingChange): object {
  const value = (json: string | null): unknown => (json === null ? null : parseExactly(json))
  return { settings_path: path, before: value(before), after: value(after) }
}

function settingsOf(session: Clean): unknown {
  return fieldOf(parseMarked(session.text), 'sessionSettings') ?? {}
}

import { fieldOf, type Session, type SessionSettingsPatch } from '../../client/index.ts'
import { ExitCode, UsageError } from '../../lib/errors.ts'
import { jsonObject, parseKept } from '../../lib/json.ts'
import { argument, text, texts, type Flags, type Terminal } from '../command.ts'
import { changeOptions, mayChange, type Ask } from './change.ts'
import { platformCommand, type Advice, type Platform } from './platform.ts'
import { proseText, tableText, textOf, type Clean } from './render.ts'
import { changesBetween, type SettingChange } from './settings-paths.ts'

/** What to do next after a request about a session. */
export const ON_SESSIONS: Advice = {
  404: 'The platform does not list sessions. Their ids are in hook events, in the install steps of computers, and in other sessions.',
}

export const sessionArgument = { session: argument('its id') }

export const onComputer = {
  computer: text('id of a computer, to request the session from it directly'),
}

type SessionFlags = Flags<typeof onComputer & typeof sessionArgument>

/** The platform itself, or the named computer. */
export function placeOf({ computer }: SessionFlags): { readonly computerId?: string } {
  return computer === undefined ? {} : { computerId: computer }
}

export async function sessionOf({ client, clean }: Platform, flags: SessionFlags): Promise<Clean> {
  const { items } = await client.sessions.fetch(flags.session, placeOf(flags))
  return clean('sessions', items[0]?.text ?? '{}')
}

export function nameOf(session: unknown): string {
  const title = fieldOf(session, 'title')
  const id = textOf(fieldOf(session, 'sessionId'))
  return title === undefined || title === null ? id : `'${textOf(title)}' (${id})`
}

const patchOptions = {
  model: text('model of the session'),
  'spec-model': text('model of the spec mode'),
  tag: texts('a tag to add; can be repeated'),
  untag: texts('a tag to remove; can be repeated'),
  archive: { type: 'boolean', describe: 'archive the session' },
  settings: text('other settings as a JSON object, such as {"disabledToolIds":["WebSearch"]}'),
} as const

const UPDATE = '$0 sessions update 15f3033e-843f-4cb8-a4c3-5b4134c21f2a'

export const updateSession = platformCommand({
  examples: [
    [`${UPDATE} --model atlas-2 --tag release --tag urgent`, 'change the model and add two tags'],
    [`${UPDATE} --archive --yes`, 'archive a session from a script'],
    [
      `${UPDATE} --settings '{"disabledToolIds":["WebSearch"]}' --dry-run`,
      'show what another setting would change',
    ],
  ],
  options: { ...onComputer, ...changeOptions, ...patchOptions, ...sessionArgument },
  advice: ON_SESSIONS,
  work: (flags, terminal) => {
    const plain = plainPatch(flags)
    return async (platform) => {
      const { client, clean, world } = platform
      const present = await client.sessions.fetchToChange(flags.session, placeOf(flags))
      const patch: SessionSettingsPatch = {
        ...plain,
        ...tagsPatch(present.session, flags.tag ?? [], flags.untag ?? []),
        ...(flags.archive === true ? { archivedAt: new Date(world.now()).toISOString() } : {}),
      }
      const before = clean('sessions', present.text).value
      const ask: Ask = (to) => to.sessions.update(flags.session, patch)
      const what = `change ${Object.keys(patch).join(', ')} of the session ${nameOf(before)}`
      if (!(await mayChange(platform, what, [ask]))) return ExitCode.complete
      const after = clean('sessions', JSON.stringify(await ask(client))).value
      const changes = changesBetween(settingsOf(before), settingsOf(after))
      return {
        json: { session: after, changes: changes.map(changeJson) },
        text: changesText(nameOf(after), changes, terminal),
      }
    }
  },
})

/** Settings that the platform computes and does not accept. */
const COMPUTED = ['tokenUsage', 'inclusiveTokenUsage']

/** Changes that do not depend on the session. @throws UsageError if there is nothing to change. */
function plainPatch(flags: Flags<typeof patchOptions>): SessionSettingsPatch {
  const { model, specModel: specModeModel, settings, tag = [], untag = [], archive } = flags
  const others = settings === undefined ? {} : settingsPatch(settings)
  refuseTwice(others, flags)
  const patch = {
    ...others,
    ...(model === undefined ? {} : { model }),
    ...(specModeModel === undefined ? {} : { specModeModel }),
  }
  const changes = Object.keys(patch).length + tag.length + untag.length
  if (changes > 0 || archive === true) return patch
  throw new UsageError('there is nothing to change', {
    hint: 'Give --model, --spec-model, --tag, --untag, --archive or --settings.',
  })
}

/** @throws UsageError if `--settings` has a member that another option sets, too. */
function refuseTwice(settings: object, flags: Flags<typeof patchOptions>): void {
  const others = [
    ['--model', 'model', flags.model !== undefined],
    ['--spec-model', 'specModeModel', flags.specModel !== undefined],
    ['--tag', 'tags', flags.tag !== undefined],
    ['--untag', 'tags', flags.untag !== undefined],
    ['--archive', 'archivedAt', flags.archive === true],
  ] as const
  for (const [option, name, isGiven] of others) {
    if (!isGiven || !Object.hasOwn(settings, name)) continue
    throw new UsageError(`--settings has '${name}', which ${option} sets, too`, {
      hint: 'Leave out one of the two.',
    })
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
  if (changes.length === 0) return proseText(`The session ${name} is unchanged`)
  const rows = changes.map(({ path, before, after }) => [path, before, after])
  return `${proseText(`The session ${name}`)}\n${tableText(['setting', 'before', 'after'], rows, terminal)}`
}

function changeJson({ path, before, after }: SettingChange): object {
  const value = (json: string | null): unknown => (json === null ? null : JSON.parse(json))
  return { settings_path: path, before: value(before), after: value(after) }
}

function settingsOf(session: unknown): unknown {
  return fieldOf(session, 'sessionSettings') ?? {}
}

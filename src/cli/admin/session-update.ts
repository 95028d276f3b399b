import { fieldOf, type Session, type SessionSettingsPatch } from '../../client/index.ts'
import { ExitCode, UsageError } from '../../lib/errors.ts'
import { defineCommand, text, texts, type Flags, type Terminal } from '../command.ts'
import { jsonObject } from '../../lib/json.ts'
import { changeOptions, mayChange, requireConsent, type Ask } from './change.ts'
import { platformOptions, withPlatform, type Clean } from './platform.ts'
import { proseText, tableText, valueJson } from './render.ts'
import { nameOf, ON_SESSIONS, onComputer, placeOf, sessionArgument } from './sessions.ts'
import { changesBetween, type SettingChange } from './settings-paths.ts'

const patchOptions = {
  model: text('the model'),
  'spec-model': text('the model of the spec mode'),
  tag: texts('a tag to add; may be given several times'),
  untag: texts('a tag to take off; may be given several times'),
  archive: { type: 'boolean', describe: 'archive it, as of now' },
  settings: text('other settings, as a JSON object: {"disabledToolIds":["WebSearch"]}'),
} as const

export const updateSession = defineCommand({
  examples: [
    [
      '$0 sessions update 15f3033e-843f-4cb8-a4c3-5b4134c21f2a --model atlas-2 --tag release --tag urgent',
      'before → after',
    ],
    ['$0 sessions update 15f3033e-843f-4cb8-a4c3-5b4134c21f2a --archive --yes', 'from a script'],
    [
      `$0 sessions update 15f3033e-843f-4cb8-a4c3-5b4134c21f2a --settings '{"disabledToolIds":["WebSearch"]}' --dry-run`,
      'JSON',
    ],
  ],
  options: {
    ...platformOptions,
    ...onComputer,
    ...changeOptions,
    ...patchOptions,
    ...sessionArgument,
  },
  run: async (flags, terminal) => {
    const plain = plainPatch(flags)
    requireConsent(flags, terminal)
    return withPlatform(flags, terminal, { advice: ON_SESSIONS }, async (platform) => {
      const { client, clean, world } = platform
      const present = await client.sessions.get(flags.session, placeOf(flags))
      const patch: SessionSettingsPatch = {
        ...plain,
        ...tagsPatch(present, flags.tag ?? [], flags.untag ?? []),
        ...(flags.archive === true ? { archivedAt: new Date(world.now()).toISOString() } : {}),
      }
      const cleaned = (session: object): Clean =>
        clean('sessions', { text: JSON.stringify(session) })
      const before = cleaned(present)
      const ask = (to: typeof client): Promise<Session> => to.sessions.update(flags.session, patch)
      const asks: Ask[] = [ask]
      const what = `change ${Object.keys(patch).join(', ')} of the session ${nameOf(before.value)}`
      if (!(await mayChange(platform, flags, terminal, { what, asks }))) return ExitCode.complete
      const after = cleaned(await ask(client))
      const changes = changesBetween(settingsOf(before), settingsOf(after))
      return flags.json
        ? valueJson({ session: after.value, changes: changes.map(changeJson) })
        : changesText(nameOf(after.value), changes, terminal)
    })
  },
})

/** Settings that the platform computes itself: it takes none of them. */
const RECKONED = ['tokenUsage', 'inclusiveTokenUsage']

/** What does not depend on how the session is. @throws UsageError when there is nothing to change. */
function plainPatch(flags: Flags<typeof patchOptions>): SessionSettingsPatch {
  const { model, specModel: specModeModel, settings } = flags
  const patch = {
    ...(settings === undefined ? {} : settingsPatch(settings)),
    ...(model === undefined ? {} : { model }),
    ...(specModeModel === undefined ? {} : { specModeModel }),
  }
  const others = [...(flags.tag ?? []), ...(flags.untag ?? [])].length > 0 || flags.archive === true
  if (others || Object.keys(patch).length > 0) return patch
  throw new UsageError('nothing is named that is to be changed', {
    hint: 'Give --model, --spec-model, --tag, --untag, --archive or --settings.',
  })
}

function settingsPatch(text: string): SessionSettingsPatch {
  const settings = jsonObject(text)
  if (settings === undefined) {
    throw new UsageError('--settings: that is not a JSON object', {
      hint: `For example: --settings '{"model":"atlas-2"}'`,
    })
  }
  const reckoned = RECKONED.find((name) => Object.hasOwn(settings, name))
  if (reckoned === undefined) return settings
  throw new UsageError(`--settings: '${reckoned}' cannot be set, the platform computes it`)
}

/** The list of tags is sent whole: those that are there stay, with what the platform keeps of them. */
function tagsPatch(
  session: Session,
  added: readonly string[],
  taken: readonly string[],
): SessionSettingsPatch {
  if (added.length + taken.length === 0) return {}
  const present = session.sessionSettings?.tags ?? []
  const kept = present.filter(({ name }) => !taken.includes(name))
  const fresh = [...new Set(added)].filter((name) => !kept.some((tag) => tag.name === name))
  return { tags: [...kept, ...fresh.map((name) => ({ name }))] }
}

function changesText(name: string, changes: readonly SettingChange[], terminal: Terminal): string {
  if (changes.length === 0) return proseText(`The session ${name} is as it was`)
  const rows = changes.map(({ path, before, after }) => [path, before, after])
  return `${proseText(`The session ${name}`)}\n${tableText(['setting', 'before', 'after'], rows, terminal)}`
}

function changeJson({ path, before, after }: SettingChange): object {
  const value = (json: string | null): unknown => (json === null ? null : JSON.parse(json))
  return { settings_path: path, before: value(before), after: value(after) }
}

function settingsOf({ value }: Clean): unknown {
  return fieldOf(value, 'sessionSettings') ?? {}
}

import { fieldOf } from '../../client/index.ts'
import { UsageError } from '../../lib/errors.ts'
import { parseExactly, parseMarked } from '../../lib/json.ts'
import { argument, optionalArgument, textOr, type Entry } from '../command.ts'
import { wholeNumber } from '../options.ts'
import { platformCommand, type Platform } from './platform.ts'
import { fieldsOf, fieldsText, served, tableText, textOf, timeOf, type Clean } from './render.ts'
import { changesBetween, elementsOf, isSet, pathsOf, type SettingChange } from './settings-paths.ts'

const DEFAULT_LISTED = 20

const listControls = platformCommand({
  examples: {
    '$0 controls list': 'list the last 20 revisions, who made them, and what they changed',
    '$0 controls list --limit 500 --json': 'list revisions as raw JSON, with secrets redacted',
  },
  options: { limit: textOr(String(DEFAULT_LISTED), 'number of revisions, newest first') },
  work: (flags, terminal) => {
    const limit = wholeNumber(flags.limit, '--limit', 1)
    return async (platform) => {
      // one more, to see what the last one changed
      const revisions = await newestUntil(platform, ({ length }) => length > limit)
      const listed = revisions.slice(0, limit)
      const rows = listed.map((each, index) => listRow(each, revisions[index + 1]))
      const columns = ['revision', 'updated_at', 'actor', 'changed']
      return served(listed, tableText(columns, rows, terminal))
    }
  },
})

const showControls = platformCommand({
  examples: {
    '$0 controls show latest': 'show every current setting',
    '$0 controls show 12 --json': 'show a revision as raw JSON, with secrets redacted',
  },
  options: { revision: argument('number of the revision, or latest') },
  work: (flags, terminal) => {
    const wanted = revisionOf(flags.revision)
    return async (platform) => {
      const { revision } = findIn(await revisionsFor(platform, wanted), wanted)
      const settings = pathsOf(settingsOf(revision))
      const table = tableText(['setting', 'value'], [...settings], terminal)
      const header = fieldsText([
        ['revision', numberOf(revision)],
        ['updated at', timeOf(fieldOf(revision.value, 'updatedAt'))],
        ['by', actorOf(revision)],
      ])
      return { json: revision.text, text: `${header}\n${table}` }
    }
  },
})

const diffControls = platformCommand({
  examples: {
    '$0 controls diff latest': 'show what the last revision changed',
    '$0 controls diff 9 12': 'show how revision 12 differs from revision 9',
  },
  options: {
    a: argument('a revision, or latest; without b: what this revision changed'),
    b: optionalArgument('the revision to compare a with'),
  },
  work: (flags, terminal) => {
    const a = revisionOf(flags.a)
    const b = flags.b === undefined ? undefined : revisionOf(flags.b)
    return async (platform) => {
      const revisions = await revisionsFor(platform, a, b ?? a)
      const found = findIn(revisions, a)
      const [before, after] =
        b === undefined
          ? [found.before, found.revision]
          : [found.revision, findIn(revisions, b).revision]
      const changes = changesBetween(settingsOf(before), settingsOf(after))
      const [from, to] = [numberOf(before), numberOf(after)]
      const table = tableText(['setting', 'old', 'new'], diffRows(changes), terminal)
      return {
        json: { from_revision: from, to_revision: to, changes: changes.map(changeJson) },
        text: `From ${from === null ? 'nothing' : `revision ${textOf(from)}`} to revision ${textOf(to)}; for unordered lists, each removed or added element\n\n${table}`,
      }
    }
  },
})

export const controls: readonly Entry[] = [
  ['list', 'list the last revisions of the settings', listControls],
  ['show <revision>', 'show every setting of a revision', showControls],
  ['diff <a> [b]', 'show what a revision changed, or how two revisions differ', diffControls],
]

type Wanted = number | 'latest'

function revisionOf(text: string): Wanted {
  return text === 'latest' ? text : wholeNumber(text, 'the revision', 0)
}

/**
 * Revisions, newest first, each once, until there are enough: the platform offers no other way to
 * find one. A revision that is made meanwhile moves others to the next page.
 */
async function newestUntil(
  platform: Platform,
  isEnough: (revisions: readonly Clean[]) => boolean,
): Promise<Clean[]> {
  const revisions: Clean[] = []
  const seen = new Set<unknown>()
  for await (const { items } of platform.client.controls.fetchPages()) {
    for (const item of items) {
      const revision = platform.clean('enterprise_controls', item.text)
      if (seen.has(numberOf(revision))) continue
      seen.add(numberOf(revision))
      revisions.push(revision)
      if (isEnough(revisions)) return revisions
    }
  }
  return revisions
}

/** The newest revisions, down to the one before the oldest that is wanted. */
function revisionsFor(platform: Platform, ...wanted: readonly Wanted[]): Promise<Clean[]> {
  const oldest = Math.min(...wanted.map((one) => (one === 'latest' ? Infinity : one)))
  return newestUntil(
    platform,
    (found) => found.length > 1 && Number(numberOf(found.at(-1))) < oldest,
  )
}

/** A revision, and the one before it. @throws UsageError if there is no such revision. */
function findIn(revisions: readonly Clean[], wanted: Wanted) {
  const at = wanted === 'latest' ? 0 : revisions.findIndex((each) => numberOf(each) === wanted)
  const revision = revisions[at]
  if (revision !== undefined) return { revision, before: revisions[at + 1] }
  const what = wanted === 'latest' ? 'no revision' : `no revision ${wanted}`
  throw new UsageError(`the enterprise controls have ${what}`, {
    hint: 'agent-warehouse controls list shows the last revisions, and earlier ones with --limit.',
  })
}

function listRow(revision: Clean, before: Clean | undefined): unknown[] {
  const touched = changesBetween(settingsOf(before), settingsOf(revision)).map(
    ({ path }) => /^[^.[]+/.exec(path)?.[0] ?? path,
  )
  const changed = [...new Set(touched)].join(', ')
  const updatedAt = timeOf(fieldOf(revision.value, 'updatedAt'))
  return [numberOf(revision), updatedAt, actorOf(revision), changed]
}

/** Each removed or added element of a set is a row. */
function diffRows(changes: readonly SettingChange[]): unknown[][] {
  return changes.flatMap(({ path, before, after }) => {
    const [old, present] = [elementsOf(before), elementsOf(after)]
    if (!isSet(path) || old.length + present.length === 0) return [[path, before, after]]
    return [
      ...old.filter((each) => !present.includes(each)).map((each) => [`${path}[]`, each, null]),
      ...present.filter((each) => !old.includes(each)).map((each) => [`${path}[]`, null, each]),
    ]
  })
}

/** A missing path has no value, because null is a value. */
function changeJson({ path, before, after }: SettingChange): object {
  return {
    settings_path: path,
    ...(before === null ? {} : { old_value: parseExactly(before) }),
    ...(after === null ? {} : { new_value: parseExactly(after) }),
  }
}

function settingsOf(revision: Clean | undefined): unknown {
  return revision === undefined ? {} : fieldOf(parseMarked(revision.text), 'settings')
}

function numberOf(revision: Clean | undefined): unknown {
  return revision === undefined ? null : fieldOf(revision.value, 'revision')
}

function actorOf(revision: Clean): unknown {
  return fieldsOf(fieldOf(revision.value, 'user'), 'email', 'name', 'id').find(Boolean)
}

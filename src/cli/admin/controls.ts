import { fieldOf } from '../../client/index.ts'
import { UsageError } from '../../lib/errors.ts'
import { argument, defineCommand, optionalArgument, textOr } from '../command.ts'
import { wholeNumber } from '../options.ts'
import { platformOptions, withPlatform, type Clean, type Platform } from './platform.ts'
import { fieldsText, itemJson, listText, tableText, textOf, timeOf, valueJson } from './render.ts'
import { changesBetween, elementsOf, isSet, pathsOf, type SettingChange } from './settings-paths.ts'

const DEFAULT_LISTED = 20

export const listControls = defineCommand({
  examples: [
    ['$0 controls list', 'the last 20 revisions, who made them, what they touch'],
    ['$0 controls list --limit 500 --json', 'as served, secrets taken out'],
  ],
  options: {
    ...platformOptions,
    limit: textOr(String(DEFAULT_LISTED), 'how many revisions, the newest first'),
  },
  run: async (flags, terminal) => {
    const limit = wholeNumber(flags.limit, '--limit', 1)
    return withPlatform(flags, terminal, {}, async (platform) => {
      // one more, to tell what the last one changed
      const revisions = await newest(platform, limit + 1)
      const listed = revisions.slice(0, limit)
      return listText(listed, flags, () => {
        const rows = listed.map((each, index) => listRow(each, revisions[index + 1]))
        return tableText(LIST_COLUMNS, rows, terminal)
      })
    })
  },
})

export const showControls = defineCommand({
  examples: [
    ['$0 controls show latest', 'every setting as it is now'],
    ['$0 controls show 12 --json', 'one revision as served, secrets taken out'],
  ],
  options: { ...platformOptions, revision: argument('its number, or latest') },
  run: async (flags, terminal) => {
    const wanted = revisionOf(flags.revision)
    return withPlatform(flags, terminal, {}, async (platform) => {
      const [revision] = await find(platform, [wanted])
      if (revision === undefined) throw noRevision(wanted)
      if (flags.json) return itemJson(revision.text)
      const settings = pathsOf(fieldOf(revision.value, 'settings'))
      return `${headerText(revision)}\n${tableText(SHOW_COLUMNS, [...settings], terminal)}`
    })
  },
})

export const diffControls = defineCommand({
  examples: [
    ['$0 controls diff latest', 'what the last revision changed'],
    ['$0 controls diff 9 12', 'how 12 differs from 9'],
  ],
  options: {
    ...platformOptions,
    a: argument('a revision, or latest; alone: what it changed'),
    b: optionalArgument('the revision that a is compared with'),
  },
  run: async (flags, terminal) => {
    const a = revisionOf(flags.a)
    const b = flags.b === undefined ? undefined : revisionOf(flags.b)
    return withPlatform(flags, terminal, {}, async (platform) => {
      const [before, after] = await pair(platform, a, b)
      const changes = changesBetween(settingsOf(before), settingsOf(after))
      const names = [numberOf(before), numberOf(after)]
      return flags.json
        ? valueJson(diffJson(names, changes))
        : diffText(names, tableText(DIFF_COLUMNS, diffRows(changes), terminal))
    })
  },
})

const LIST_COLUMNS = [{ number: 'revision' }, 'updated_at', 'actor', 'changed']
const SHOW_COLUMNS = ['setting', 'value']
const DIFF_COLUMNS = ['setting', 'old', 'new']

/** A number, or `latest`. */
type Wanted = number | 'latest'

function revisionOf(text: string): Wanted {
  return text === 'latest' ? text : wholeNumber(text, 'the revision', 0)
}

/** The newest revisions, so many of them or all. */
async function newest(platform: Platform, count: number): Promise<Clean[]> {
  const found: Clean[] = []
  for await (const { items } of platform.client.controls.fetchPages()) {
    found.push(...items.map((item) => platform.clean('enterprise_controls', item)))
    if (found.length >= count) break
  }
  return found.slice(0, count)
}

/** Those that are wanted, in their order; there is no other way than from the newest on. */
async function find(platform: Platform, wanted: readonly Wanted[]): Promise<(Clean | undefined)[]> {
  const found = new Map<Wanted, Clean>()
  for await (const { items } of platform.client.controls.fetchPages()) {
    for (const item of items) {
      const revision = platform.clean('enterprise_controls', item)
      if (found.size === 0 && wanted.includes('latest')) found.set('latest', revision)
      const number = numberOf(revision)
      if (typeof number === 'number' && wanted.includes(number)) found.set(number, revision)
    }
    if (wanted.every((each) => found.has(each) || isPast(each, items.at(-1)?.value))) break
  }
  return wanted.map((each) => found.get(each))
}

/** True when the pages have come below it: revisions descend. */
function isPast(wanted: Wanted, last: unknown): boolean {
  const revision = fieldOf(last, 'revision')
  return typeof wanted === 'number' && typeof revision === 'number' && revision < wanted
}

/** What to compare: two revisions, or one with the one before it. */
async function pair(
  platform: Platform,
  a: Wanted,
  b: Wanted | undefined,
): Promise<[Clean | undefined, Clean]> {
  if (b !== undefined) {
    const [before, after] = await find(platform, [a, b])
    if (before === undefined) throw noRevision(a)
    if (after === undefined) throw noRevision(b)
    return [before, after]
  }
  let after: Clean | undefined
  for await (const { items } of platform.client.controls.fetchPages()) {
    for (const item of items) {
      const revision = platform.clean('enterprise_controls', item)
      if (after !== undefined) return [revision, after]
      if (a === 'latest' || numberOf(revision) === a) after = revision
    }
  }
  if (after === undefined) throw noRevision(a)
  return [undefined, after]
}

function noRevision(wanted: Wanted): UsageError {
  const what = wanted === 'latest' ? 'no revision' : `no revision ${wanted}`
  return new UsageError(`the enterprise controls have ${what}`, {
    hint: 'agent-warehouse controls list shows the revisions that there are.',
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

function headerText(revision: Clean): string {
  return fieldsText([
    ['revision', numberOf(revision)],
    ['updated at', timeOf(fieldOf(revision.value, 'updatedAt'))],
    ['by', actorOf(revision)],
  ])
}

function diffText([before, after]: readonly unknown[], table: string): string {
  const from = before === null ? 'nothing' : `revision ${textOf(before)}`
  return `From ${from} to revision ${textOf(after)}; of lists without an order each element that went or came\n\n${table}`
}

/** Of a set, each element that went or came is a row. */
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

/** A path that is not there has no value: null is one. */
function diffJson([from, to]: readonly unknown[], changes: readonly SettingChange[]): object {
  return {
    from_revision: from,
    to_revision: to,
    changes: changes.map(({ path, before, after }) => ({
      settings_path: path,
      ...(before === null ? {} : { old_value: JSON.parse(before) as unknown }),
      ...(after === null ? {} : { new_value: JSON.parse(after) as unknown }),
    })),
  }
}

function settingsOf(revision: Clean | undefined): unknown {
  return revision === undefined ? {} : fieldOf(revision.value, 'settings')
}

function numberOf(revision: Clean | undefined): unknown {
  return revision === undefined ? null : fieldOf(revision.value, 'revision')
}

function actorOf(revision: Clean): unknown {
  const user = fieldOf(revision.value, 'user')
  return ['email', 'name', 'id'].map((name) => fieldOf(user, name)).find(Boolean)
}

import type { Node } from 'jsonc-parser'
import { shellWord } from '../lib/text.ts'
import type { HookEventName } from './event.ts'
import {
  JsonSyntaxError,
  parseJsonTree,
  withElement,
  withoutElement,
  withValue,
} from './json-edit.ts'

/** How long the agent waits for `hooks run`, in seconds; it takes much less. */
const TIMEOUT_SECONDS = 15

type Change = 'added' | 'updated' | 'unchanged'

/** One of our commands, and the event that it is registered for. */
export type Registered = Pick<ReturnType<typeof ourPlaces>[number], 'event' | 'command'>

/**
 * Registers the command once for each event. All other text stays byte for byte; an
 * outdated command of ours is updated.
 *
 * @throws JsonSyntaxError if the text is not a JSON object.
 */
export function install(text: string, events: readonly HookEventName[], command: string) {
  /** Objects and arrays that were created: `hooks`, `hooks.Stop`. */
  const created: string[] = []
  const changes: Partial<Record<HookEventName, Change>> = {}
  let next = text
  if (valueAt(rootOf(next), 'hooks') === undefined) {
    next = withElement(next, rootOf(next), { key: 'hooks', value: {} })
    created.push('hooks')
  }
  for (const event of events) {
    const before = next
    next = withOnlyOne(next, event, command)
    if (ourPlaces(next, event).length > 0) {
      changes[event] = next === before ? 'unchanged' : 'updated'
      continue
    }
    const group = { hooks: [{ type: 'command', command, timeout: TIMEOUT_SECONDS }] }
    const groups = groupsOf(next, event)
    if (groups === undefined) created.push(`hooks.${event}`)
    next =
      groups === undefined
        ? withElement(next, hooksOf(next), { key: event, value: [group] })
        : withElement(next, groups, { value: group })
    changes[event] = 'added'
  }
  return { text: next, changes, created }
}

/** Leaves at most one of our commands for the event, and updates it. */
function withOnlyOne(text: string, event: HookEventName, command: string): string {
  const [first, ...doubles] = ourPlaces(text, event)
  const last = doubles.at(-1)
  if (last !== undefined) {
    return withOnlyOne(withoutElement(text, last.list, last.at), event, command)
  }
  if (first === undefined || first.command === command) return text
  return withValue(text, first.node, command)
}

/**
 * Removes our commands, and the containers in `created`, as `install` reported them, that
 * are empty then; null: any container that is empty then.
 *
 * @throws JsonSyntaxError
 */
export function uninstall(text: string, created: readonly string[] | null) {
  const removed = [...new Set(ourPlaces(text).map(({ event }) => event))]
  let next = text
  for (let place = ourPlaces(next)[0]; place !== undefined; place = ourPlaces(next)[0]) {
    next = withoutElement(next, place.list, place.at)
  }
  for (const event of removed) {
    const isOwn = created === null || created.includes(`hooks.${event}`)
    if (isOwn && groupsOf(next, event)?.children?.length === 0) {
      next = withoutMember(next, hooksOf(next), event)
    }
  }
  const isOwn = removed.length > 0 && (created === null || created.includes('hooks'))
  if (isOwn && hooksOf(next).children?.length === 0) {
    next = withoutMember(next, rootOf(next), 'hooks')
  }
  return { text: next, removed }
}

/** Our commands in the settings. @throws JsonSyntaxError */
export function registeredIn(text: string): readonly Registered[] {
  return ourPlaces(text).map(({ event, command }) => ({ event, command }))
}

/** Our commands, and the element to remove for each: the command, or its group if it is alone there. */
function ourPlaces(text: string, only?: string) {
  return membersOf(valueAt(rootOf(text), 'hooks')).flatMap(({ children: [key, groups] = [] }) => {
    const event = String(key?.value)
    if (only !== undefined && event !== only) return []
    return itemsOf(groups).flatMap((group, groupAt) => {
      const commands = valueAt(group, 'hooks')
      return itemsOf(commands).flatMap((each, at) => {
        const node = valueAt(each, 'command')
        const command: unknown = node?.value
        if (node === undefined || typeof command !== 'string') return []
        if (groups === undefined || commands === undefined) return []
        if (readCommandLine(command) === undefined) return []
        const isAlone = group.children?.length === 1 && commands.children?.length === 1
        const where = isAlone ? { list: groups, at: groupAt } : { list: commands, at }
        return [{ event, command, node, ...where }]
      })
    })
  })
}

function membersOf(node: Node | undefined): readonly Node[] {
  return node?.type === 'object' ? (node.children ?? []) : []
}

function itemsOf(node: Node | undefined): readonly Node[] {
  return node?.type === 'array' ? (node.children ?? []) : []
}

function withoutMember(text: string, object: Node, key: string): string {
  const index = membersOf(object).findLastIndex((member) => isNamed(member, key))
  return withoutElement(text, object, index)
}

function rootOf(text: string): Node {
  const root = parseJsonTree(text)
  if (root.type === 'object') return root
  throw new JsonSyntaxError('settings must be an object', text, root.offset)
}

function hooksOf(text: string): Node {
  const hooks = valueAt(rootOf(text), 'hooks')
  if (hooks?.type === 'object') return hooks
  throw new JsonSyntaxError("'hooks' is not an object", text, hooks?.offset ?? 0)
}

function groupsOf(text: string, event: string): Node | undefined {
  const groups = valueAt(hooksOf(text), event)
  if (groups === undefined || groups.type === 'array') return groups
  throw new JsonSyntaxError(`'hooks.${event}' is not a list`, text, groups.offset)
}

/** The last of repeated names counts, as for every reader of JSON. */
function valueAt(node: Node, key: string): Node | undefined {
  return membersOf(node).findLast((member) => isNamed(member, key))?.children?.[1]
}

function isNamed({ children: [name] = [] }: Node, key: string): boolean {
  return name?.value === key
}

/** The absolute paths in the registered command. */
export type HookCommand = Readonly<NonNullable<ReturnType<typeof readCommandLine>>>

type Platform = 'posix' | 'windows'

/** The command line for the agent's shell; paths are quoted if necessary. */
export function commandLine(command: HookCommand, platform: Platform): string {
  const { node, script, dataFolder, config } = command
  const words = [node, script, 'hooks', 'run', '--data', dataFolder, '--config', config]
  return words.map((word) => quoted(word, platform)).join(' ')
}

/**
 * Parses what `commandLine` wrote; undefined for any other command, including ours with
 * a change to more than a path.
 */
export function readCommandLine(line: string) {
  const [node, script, hooks, run, dataFlag, dataFolder, configFlag, config, ...more] =
    wordsOf(line) ?? []
  const isOurs =
    script !== undefined &&
    /[\\/]main\.js$/.test(script) &&
    [hooks, run, dataFlag, configFlag, ...more].join(' ') === 'hooks run --data --config'
  if (!isOurs || node === undefined || dataFolder === undefined || config === undefined) {
    return undefined
  }
  return { node, script, dataFolder, config }
}

function quoted(word: string, platform: Platform): string {
  // No path of Windows has a double quote.
  return platform === 'windows' ? `"${word}"` : shellWord(word)
}

/** Bare and quoted words, joined as a shell does. */
const WORD = /(?:'[^']*'|"[^"]*"|\\'|[^\s'"\\]|\\(?=\w))+/g
const PIECE = /'([^']*)'|"([^"]*)"|\\(')/g

/** The words of a command line; undefined if something between them is not blank. */
function wordsOf(line: string): string[] | undefined {
  if (line.replaceAll(WORD, '').trim() !== '') return undefined
  return [...line.matchAll(WORD)].map(([word]) => word.replaceAll(PIECE, '$1$2$3'))
}

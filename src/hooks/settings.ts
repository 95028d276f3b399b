import type { Node } from 'jsonc-parser'
import { readCommandLine } from './command-line.ts'
import type { HookEventName } from './events.ts'
import {
  JsonSyntaxError,
  parseJsonTree,
  withElement,
  withoutElement,
  withValue,
} from './json-edit.ts'

/** How long the agent waits for `hooks run`, in seconds; it ends well before. */
const TIMEOUT_SECONDS = 15

export type Change = 'added' | 'updated' | 'unchanged'

export interface Installation {
  readonly text: string
  readonly changes: Readonly<Partial<Record<HookEventName, Change>>>
  /** Objects and arrays that were not there before: `hooks`, `hooks.Stop`. */
  readonly created: readonly string[]
}

/** What one of our commands is registered for, and where it stands. */
export interface Registered {
  readonly event: string
  readonly command: string
}

/**
 * The settings with the command registered for each event, once. What is there
 * already is kept, byte for byte; one of ours that says otherwise is brought up to date.
 *
 * @throws JsonSyntaxError when the text is no JSON, or not the object that settings are.
 */
export function install(
  text: string,
  events: readonly HookEventName[],
  command: string,
): Installation {
  const created: string[] = []
  const changes: Partial<Record<HookEventName, Change>> = {}
  let next = text
  if (valueAt(rootOf(next), 'hooks') === undefined) {
    next = withElement(next, rootOf(next), { key: 'hooks', value: {} })
    created.push('hooks')
  }
  for (const event of events) {
    const registered = oursFor(next, event)
    if (registered.length > 0) {
      const updated = bringUpToDate(next, event, command)
      changes[event] = updated === next ? 'unchanged' : 'updated'
      next = updated
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

/**
 * The settings without our commands, and without what was made for them alone:
 * the containers in `created`, as `install` reported them; null: any that is empty then.
 *
 * @throws JsonSyntaxError
 */
export function uninstall(
  text: string,
  created: readonly string[] | null,
): { readonly text: string; readonly removed: readonly string[] } {
  const ours = registeredIn(text)
  let next = text
  for (let each = ourPlaces(next)[0]; each !== undefined; each = ourPlaces(next)[0]) {
    next = withoutPlace(next, each)
  }
  const events = [...new Set(ours.map(({ event }) => event))]
  for (const event of events) {
    const isOwn = created === null || created.includes(`hooks.${event}`)
    if (isOwn && groupsOf(next, event)?.children?.length === 0)
      next = withoutMember(next, hooksOf(next), event)
  }
  const isOwn = ours.length > 0 && (created === null || created.includes('hooks'))
  if (isOwn && hooksOf(next).children?.length === 0)
    next = withoutMember(next, rootOf(next), 'hooks')
  return { text: next, removed: events }
}

/** Our commands, by the events that they are registered for. @throws JsonSyntaxError */
export function registeredIn(text: string): readonly Registered[] {
  return ourPlaces(text).map(({ event, command }) => ({ event, command }))
}

interface Place extends Registered {
  readonly groups: Node
  readonly groupIndex: number
  readonly commands: Node
  readonly index: number
  /** The command's text. */
  readonly node: Node
}

function ourPlaces(text: string): Place[] {
  const hooks = valueAt(rootOf(text), 'hooks')
  if (hooks?.type !== 'object') return []
  return (hooks.children ?? []).flatMap(({ children: [key, groups] = [] }) =>
    groups?.type === 'array' ? inGroups(String(key?.value), groups) : [],
  )
}

function inGroups(event: string, groups: Node): Place[] {
  return (groups.children ?? []).flatMap((group, groupIndex) => {
    const commands = valueAt(group, 'hooks')
    if (commands?.type !== 'array') return []
    return (commands.children ?? []).flatMap((each, index): Place[] => {
      const node = valueAt(each, 'command')
      const command: unknown = node?.value
      if (node === undefined || typeof command !== 'string') return []
      if (readCommandLine(command) === undefined) return []
      return [{ event, command, groups, groupIndex, commands, index, node }]
    })
  })
}

function oursFor(text: string, event: string): Place[] {
  return ourPlaces(text).filter((place) => place.event === event)
}

/** One of ours per event, with this command. */
function bringUpToDate(text: string, event: string, command: string): string {
  let next = text
  for (let all = oursFor(next, event); all.length > 1; all = oursFor(next, event)) {
    const last = all.at(-1)
    if (last !== undefined) next = withoutPlace(next, last)
  }
  const [place] = oursFor(next, event)
  return place === undefined || place.command === command
    ? next
    : withValue(next, place.node, command)
}

/** Without the command, and without its group where that was its own. */
function withoutPlace(text: string, place: Place): string {
  const group = place.groups.children?.[place.groupIndex]
  const isGroupsOwn = group?.children?.length === 1 && place.commands.children?.length === 1
  return isGroupsOwn
    ? withoutElement(text, place.groups, place.groupIndex)
    : withoutElement(text, place.commands, place.index)
}

function withoutMember(text: string, object: Node, key: string): string {
  const index = (object.children ?? []).findLastIndex((member) => isNamed(member, key))
  return withoutElement(text, object, index)
}

function rootOf(text: string): Node {
  const root = parseJsonTree(text)
  if (root.type === 'object') return root
  throw new JsonSyntaxError('settings are an object', text, root.offset)
}

function hooksOf(text: string): Node {
  const hooks = valueAt(rootOf(text), 'hooks')
  if (hooks?.type === 'object') return hooks
  throw new JsonSyntaxError("'hooks' is no object", text, hooks?.offset ?? 0)
}

function groupsOf(text: string, event: string): Node | undefined {
  const groups = valueAt(hooksOf(text), event)
  if (groups === undefined || groups.type === 'array') return groups
  throw new JsonSyntaxError(`'hooks.${event}' is no list`, text, groups.offset)
}

/** Of names that come twice the last one counts, as for every reader of JSON. */
function valueAt({ type, children = [] }: Node, key: string): Node | undefined {
  if (type !== 'object') return undefined
  return children.findLast((member) => isNamed(member, key))?.children?.[1]
}

function isNamed({ children: [name] = [] }: Node, key: string): boolean {
  return name?.value === key
}

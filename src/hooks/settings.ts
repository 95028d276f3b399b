import { readCommandLine } from './command-line.ts'
import type { HookEventName } from './events.ts'
import { withElement, withoutElement, withValue } from './json-edit.ts'
import {
  JsonSyntaxError,
  parseJsonTree,
  type JsonArray,
  type JsonMember,
  type JsonNode,
  type JsonObject,
} from './json-tree.ts'

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
  if (memberOf(rootOf(next), 'hooks') === undefined) {
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
 * the containers in `created`, as `install` told of them; null: any that is empty then.
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
    if (isOwn && groupsOf(next, event)?.items.length === 0)
      next = withoutMember(next, hooksOf(next), event)
  }
  const isOwn = ours.length > 0 && (created === null || created.includes('hooks'))
  if (isOwn && hooksOf(next).members.length === 0) next = withoutMember(next, rootOf(next), 'hooks')
  return { text: next, removed: events }
}

/** Our commands, by the events that they are registered for. @throws JsonSyntaxError */
export function registeredIn(text: string): readonly Registered[] {
  return ourPlaces(text).map(({ event, command }) => ({ event, command }))
}

interface Place extends Registered {
  readonly groups: JsonArray
  readonly groupIndex: number
  readonly commands: JsonArray
  readonly index: number
  readonly node: JsonNode
}

function ourPlaces(text: string): Place[] {
  const hooks = memberOf(rootOf(text), 'hooks')?.value
  if (hooks?.kind !== 'object') return []
  return hooks.members.flatMap(({ key, value }) =>
    value.kind === 'array' ? inGroups(key, value) : [],
  )
}

function inGroups(event: string, groups: JsonArray): Place[] {
  return groups.items.flatMap((group, groupIndex) => {
    const commands = group.kind === 'object' ? memberOf(group, 'hooks')?.value : undefined
    if (commands?.kind !== 'array') return []
    return commands.items.flatMap((each, index): Place[] => {
      const node = each.kind === 'object' ? memberOf(each, 'command')?.value : undefined
      if (node?.kind !== 'scalar' || typeof node.value !== 'string') return []
      if (readCommandLine(node.value) === undefined) return []
      return [{ event, command: node.value, groups, groupIndex, commands, index, node }]
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
  const group = place.groups.items[place.groupIndex]
  const isGroupsOwn =
    group?.kind === 'object' && group.members.length === 1 && place.commands.items.length === 1
  return isGroupsOwn
    ? withoutElement(text, place.groups, place.groupIndex)
    : withoutElement(text, place.commands, place.index)
}

function withoutMember(text: string, object: JsonObject, key: string): string {
  const index = object.members.findLastIndex((member) => member.key === key)
  return withoutElement(text, object, index)
}

function rootOf(text: string): JsonObject {
  const root = parseJsonTree(text)
  if (root.kind === 'object') return root
  throw new JsonSyntaxError('settings are an object', text, root.start)
}

function hooksOf(text: string): JsonObject {
  const hooks = memberOf(rootOf(text), 'hooks')?.value
  if (hooks?.kind === 'object') return hooks
  throw new JsonSyntaxError("'hooks' is no object", text, hooks?.start ?? 0)
}

function groupsOf(text: string, event: string): JsonArray | undefined {
  const groups = memberOf(hooksOf(text), event)?.value
  if (groups === undefined || groups.kind === 'array') return groups
  throw new JsonSyntaxError(`'hooks.${event}' is no list`, text, groups.start)
}

/** Of names that come twice the last one counts, as for every reader of JSON. */
function memberOf(object: JsonObject, key: string): JsonMember | undefined {
  return object.members.findLast((member) => member.key === key)
}

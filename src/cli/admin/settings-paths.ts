import { isObject, keptText } from '../../lib/json.ts'
import { textOf } from './render.ts'

/**
 * Settings as paths and values, with the names of `fct_control_change` and
 * sql/base/controls_settings.sql. A leaf is text, a number, a boolean, null, a list of those, or
 * an empty container.
 */

/** A path whose value changed; null means that the path does not exist. */
export type SettingChange = ReturnType<typeof changesBetween>[number]

/** Every leaf below a value (by `parseMarked`), as JSON, by the path to it. */
export function pathsOf(settings: unknown): ReadonlyMap<string, string> {
  const leaves = new Map<string, string>()
  collect('', settings, leaves)
  return leaves
}

/** The differences between two settings, by path. */
export function changesBetween(before: unknown, after: unknown) {
  const [old, present] = [pathsOf(before), pathsOf(after)]
  const paths = [...new Set([...old.keys(), ...present.keys()])].sort()
  return paths
    .map((path) => ({ path, before: old.get(path) ?? null, after: present.get(path) ?? null }))
    .filter(({ before: was, after: is }) => was !== is)
}

/** True for a list whose order has no meaning. */
export function isSet(path: string): boolean {
  return SET.test(path)
}

export function elementsOf(set: string | null): readonly string[] {
  const elements: unknown = set === null ? [] : JSON.parse(set)
  return Array.isArray(elements) ? elements.map((each) => JSON.stringify(each)) : []
}

const SET =
  /^(?:command(?:Allow|Deny)list|(?:managed|byom)ComputersAllowedEmails|modelPolicy\.(?:(?:allowed|blocked)ModelIds|allowedBaseUrls)|userModelPolicies.*\.(?:allowed|blocked)ModelIds|mcpPolicy\.allowlist|missionPolicy\.allowedUserIds|networkPolicy\.allowedIps|sandbox\.filesystem\.(?:allow|deny)(?:Read|Write)|sandbox\.network\.(?:allowedDomains|allowUnixSockets))$/s

const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_-]*$/

function collect(path: string, value: unknown, leaves: Map<string, string>): void {
  const below = childrenOf(path, value)
  for (const [step, child] of below) collect(path + step, child, leaves)
  if (below.length === 0 && path !== '') leaves.set(path, leafText(path, value))
}

function childrenOf(path: string, value: unknown): [string, unknown][] {
  if (isObject(value)) {
    return Object.entries(value).map(([key, child]) => [stepOf(path, key), child])
  }
  if (!Array.isArray(value) || !value.every(isObject)) return []
  const names = value.map(nameOf)
  return value.map((child, index) => [`[${distinctName(names, index)}]`, child])
}

function stepOf(path: string, key: string): string {
  if (!PLAIN_KEY.test(key)) return `[${JSON.stringify(key)}]`
  return path === '' ? key : `.${key}`
}

/** The name of an object in a list; null if it has none. */
function nameOf(value: Readonly<Record<string, unknown>>): string | null {
  const text = (field: string): string => textOf(value[field] ?? undefined)
  const source = ['source', 'repo', 'url', 'path'].map(text).filter((part) => part !== '')
  const name = [text('id'), text('model'), source.join(':'), text('name')].find(
    (each) => each !== '',
  )
  return name ?? null
}

/** Appends a number to a repeated name; an object without a name gets its position. */
function distinctName(names: readonly (string | null)[], index: number): string {
  const name = names[index] ?? null
  if (name === null) return String(index)
  if (names.indexOf(name) === index) return name
  return `${name}#${names.slice(0, index + 1).filter((each) => each === name).length}`
}

function leafText(path: string, value: unknown): string {
  if (!Array.isArray(value) || !isSet(path)) return keptText(value)
  const elements = new Set(value.map((element) => keptText(element)))
  return `[${[...elements].sort().join(',')}]`
}

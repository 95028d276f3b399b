import { derive } from './random.ts'

/** What an id is of; each kind is a stream of its own. */
const KINDS = { computer: 101, host: 102, session: 103, message: 104, report: 105, step: 106 }

/** The key of every draw about the thing of a kind at an index. */
export function keyOf(seed: number, kind: keyof typeof KINDS, index: number): number {
  return derive(derive(seed, KINDS[kind]), index)
}

/** A UUID, always the same of a key. */
export function uuidOf(key: number): string {
  const hex = [1, 2, 3, 4].map((part) => derive(key, part).toString(16).padStart(8, '0')).join('')
  const [a, b, c, d] = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(13, 16), hex.slice(17, 20)]
  return `${a}-${b}-4${c}-a${d}-${hex.slice(20)}`
}

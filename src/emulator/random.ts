const GOLDEN = 0x9e3779b1
const TWO_TO_32 = 4_294_967_296

/** Mixes 32 bits so that similar inputs have different outputs; a bijection. */
export function mix(value: number): number {
  let bits = value | 0
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}

/** A key for the pair (key, part): seed and person, person and day. */
export function derive(key: number, part: number): number {
  return mix(key ^ Math.imul(part + 1, GOLDEN))
}

/** A number in [0, 1) for a key and a stream. Pure, so the order of calls does not matter. */
export function draw(key: number, stream: number): number {
  return derive(key, stream) / TWO_TO_32
}

/** Returns a function that chooses an index by weight with a draw in [0, 1). */
export function createPicker(weights: readonly number[]): (unit: number) => number {
  const whole = weights.reduce((sum, weight) => sum + weight, 0)
  let sum = 0
  const ends = weights.map((weight) => (sum += weight) / whole)
  return (unit) => {
    const index = ends.findIndex((end) => unit < end)
    return index < 0 ? ends.length - 1 : index
  }
}

/**
 * Divides `total` into whole parts by weight that add up to exactly `total`:
 * each running sum is rounded down, and the last one is the total.
 */
export function apportion(total: number, weights: readonly number[]): number[] {
  const whole = weights.reduce((sum, weight) => sum + weight, 0)
  let weightSoFar = 0
  let given = 0
  return weights.map((weight, index) => {
    weightSoFar += weight
    const isLast = index === weights.length - 1
    const upTo = isLast ? total : Math.floor((total * weightSoFar) / whole)
    const part = upTo - given
    given = upTo
    return part
  })
}

/** @throws RangeError if there is no such entry. */
export function entry<T>(list: readonly T[], index: number): T {
  const found = list[index]
  if (found === undefined) throw new RangeError(`no entry ${index} in a list of ${list.length}`)
  return found
}

/** The stream of each kind of id. */
const KINDS = { computer: 101, session: 103, report: 105 }

export function keyOf(seed: number, kind: keyof typeof KINDS, index: number): number {
  return derive(derive(seed, KINDS[kind]), index)
}

export function uuidOf(key: number): string {
  const hex = [1, 2, 3, 4].map((part) => derive(key, part).toString(16).padStart(8, '0')).join('')
  const [a, b, c, d] = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(13, 16), hex.slice(17, 20)]
  return `${a}-${b}-4${c}-a${d}-${hex.slice(20)}`
}

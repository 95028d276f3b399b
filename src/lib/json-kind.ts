/** What a JSON value is, without what it says: for messages, which must not quote what was served. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  if (typeof value === 'string') return `a string of ${value.length} characters`
  if (Array.isArray(value)) return `an array of ${value.length} elements`
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

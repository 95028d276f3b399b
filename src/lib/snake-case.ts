/** An object with its names as tables and files spell them: `runId` becomes `run_id`. */
export function inSnakeCase(object: object): Record<string, unknown> {
  return renamed(object, (name) => name.replaceAll(/[A-Z]/g, (big) => `_${big.toLowerCase()}`))
}

/** The reverse. Any other value stays, so that its schema refuses it. */
export function inCamelCase(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  return renamed(value, (name) => name.replaceAll(/_[a-z]/g, (part) => part.slice(1).toUpperCase()))
}

function renamed(object: object, nameOf: (name: string) => string): Record<string, unknown> {
  const members: [string, unknown][] = Object.entries(object)
  return Object.fromEntries(members.map(([name, value]) => [nameOf(name), value]))
}

// How `expect.mjs` reads what was served. Numbers come as the text that was sent.

/** A whole number, exactly; `12`, `12.0` and `"12"` are 12. Null for what was not sent. */
export function count(text) {
  if (typeof text !== 'string') return null
  return /^-?\d+$/.test(text) ? BigInt(text) : BigInt(Number(text))
}

export function double(text) {
  return typeof text === 'string' ? Number(text) : null
}

/** Nothing but nulls is null. */
export function sum(values) {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((total, value) => total + value, 0n)
}

/** What a total has beyond its parts: 0 where they have more, null where either is unknown. */
export function left(total, parts) {
  if (total === null || (parts.length > 0 && sum(parts) === null)) return null
  const rest = total - (sum(parts) ?? 0n)
  return rest > 0n ? rest : 0n
}

export function unique(values) {
  return [...new Set(values)].sort()
}

export function groupBy(values, keyOf) {
  const groups = new Map()
  for (const value of values) groups.set(keyOf(value), [...(groups.get(keyOf(value)) ?? []), value])
  return groups
}

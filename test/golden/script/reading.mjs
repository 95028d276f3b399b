// How `expect.mjs` reads what was served. Numbers come as the text that was sent.

/** A whole number, exactly; `12`, `12.0` and `"12"` are 12. Null for what was not sent. */
export function count(text) {
  if (typeof text !== 'string') return null
  return /^-?\d+$/.test(text) ? BigInt(text) : BigInt(Number(text))
}

/** Credits in millionths, exactly: `0.5`, `5e-1` and `"0.50"` are 500000. */
export function credits(text) {
  if (typeof text !== 'string') return null
  const [, sign, whole, fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text)
  const zeros = 6 + Number(exponent) - fraction.length
  const digits = BigInt(sign + whole + fraction)
  return zeros >= 0 ? digits * 10n ** BigInt(zeros) : digits / 10n ** BigInt(-zeros)
}

/** Millionths as credits, without zeros at the end. */
export function creditsText(millionths) {
  const digits = String(millionths).padStart(7, '0')
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, '')
}

/** A measure by its name: credits in millionths, else a count. */
export function measure(name, text) {
  return name === 'billable_tokens' ? credits(text) : count(text)
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

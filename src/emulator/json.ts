/** A field of an object: its name and its value as JSON text. */
export type Field = readonly [name: string, json: string]

/** JSON text of an object whose values are JSON texts already, in the given key order. */
export function object(fields: readonly Field[]): string {
  return `{${fields.map(([name, json]) => `"${name}":${json}`).join(',')}}`
}

export function array(items: readonly string[]): string {
  return `[${items.join(',')}]`
}

/** JSON text of a string, non-ASCII characters as they are. */
export function quote(text: string): string {
  return JSON.stringify(text)
}

/** JSON text of a string with every non-ASCII UTF-16 unit escaped: `Caf\u00e9`. */
export function quoteAscii(text: string): string {
  return JSON.stringify(text).replace(
    /[^\u0000-\u007f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** A ratio with at most `digits` decimals. */
export function decimal(value: number, digits: number): string {
  return String(Number(value.toFixed(digits)))
}

/** Hundredths as a number: 1250 is `12.5`. */
export function hundredths(value: number): string {
  return String(value / 100)
}

/** The same whole number spelt with a fraction: 12 is `12.0`. */
export function spellFraction(value: number): string {
  return `${value}.0`
}

/** The same whole number spelt with an exponent: 1000 is `1e3`, 12 is `1.2e1`. */
export function spellExponent(value: number): string {
  return value.toExponential().replace('+', '')
}

import { unicodeEscape } from '../lib/text.ts'

/** Marks the text of a number that JSON.stringify would spell differently. */
const MARK = '\u0001'

/** A number that `jsonOf` writes with exactly this text, e.g. `12.0`. */
export function spelled(json: string): string {
  return MARK + json
}

/** The same whole number with a fraction: 12 is `12.0`. */
export function spellFraction(value: number): string {
  return spelled(`${value}.0`)
}

/** The same whole number with an exponent: 1000 is `1e3`, 12 is `1.2e1`. */
export function spellExponent(value: number): string {
  return spelled(value.toExponential().replace('+', ''))
}

/** The JSON text of a value, with numbers of `spelled` as they are spelled. */
export function jsonOf(value: unknown): string {
  return unmarked(JSON.stringify(value))
}

/** Replaces the marked numbers in a text of `JSON.stringify`. */
export function unmarked(json: string): string {
  return json.replaceAll(/"\\u0001([^"]*)"/g, '$1')
}

/** JSON text with every non-ASCII UTF-16 unit escaped: `Caf\u00e9`. */
export function asciiOf(json: string): string {
  return json.replaceAll(/[^\u0000-\u007f]/g, unicodeEscape)
}

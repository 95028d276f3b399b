import { unicodeEscape } from '../lib/text.ts'

/** Stands before the text of a number that JSON.stringify would spell differently. */
const MARK = '\u0001'

/** A number that `jsonOf` writes in these very characters, e.g. `12.0`. */
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

/** JSON text of a value; numbers that are spelled otherwise as they are spelled. */
export function jsonOf(value: unknown): string {
  return unmarked(JSON.stringify(value))
}

/** The JSON text that `JSON.stringify` made, numbers that are spelled otherwise as they are spelled. */
export function unmarked(json: string): string {
  return json.replaceAll(/"\\u0001([^"]*)"/g, '$1')
}

/** JSON text with every non-ASCII UTF-16 unit escaped: `Caf\u00e9`. */
export function asciiOf(json: string): string {
  return json.replaceAll(/[^\u0000-\u007f]/g, unicodeEscape)
}

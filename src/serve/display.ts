import { safeText, unicodeEscape } from '../lib/text.ts'

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** Printable characters of one column each, one code unit each: the rest need a closer look. */
const PLAIN = /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u024f…]*$/
/** East Asian wide and full-width blocks, and what is drawn as an emoji: two columns each. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{17000}-\u{18cff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u
/**
 * What is drawn as nothing, such as the selectors of a variant, or as a blank, and a
 * blank at the end. Joiners stay where `safeText` leaves them.
 */
const UNSEEN = /(?![\u200c\u200d])\p{DI}|[\u2800\u{1d159}]|(?![ \u3000])\p{Zs}|[ \u3000]$/gu
const WIDTHLESS = /^[\p{Mn}\p{Me}\p{Cf}]+$/u

/** The text on one line with nothing in it that a terminal would obey. */
export function visible(text: string): string {
  if (PLAIN.test(text)) return text
  return safeText(text.replaceAll('\r', '\\r').replaceAll('\n', '\\n').replaceAll('\t', '\\t'))
}

/** The same of a value in a table: no other value looks like it for what cannot be seen in it. */
export function visibleValue(text: string): string {
  return visible(text).replaceAll(UNSEEN, unicodeEscape)
}

/** Terminal columns that a visible text takes, near enough for aligning. */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length
  return [...graphemes.segment(text)].reduce((sum, { segment }) => sum + widthOf(segment), 0)
}

function widthOf(grapheme: string): number {
  if (WIDE.test(grapheme)) return 2
  return WIDTHLESS.test(grapheme) ? 0 : 1
}

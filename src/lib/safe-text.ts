/**
 * Characters that a terminal obeys or does not show: controls (C0, C1) but for the
 * ends of lines and tabs, what turns the direction of writing, what takes no room,
 * and halves of surrogates. Joiners count but between characters beyond ASCII, where scripts
 * and emoji need them.
 */
const DECEIVING = String.raw`[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}\p{Cs}]|[\u200c\u200d](?![^\u0000-\u007f])|(?<![^\u0000-\u007f])[\u200c\u200d]`

const deceiving = new RegExp(DECEIVING, 'gu')
const onOneLine = new RegExp(`(?:[\\n\\t]|${DECEIVING})+`, 'gu')

/** Printable ASCII and ends of lines: most of what is written. */
const PLAIN = /^[\n\t\x20-\x7e]*$/

/**
 * The text with nothing in it that a terminal would obey or a reader would not see:
 * such a character becomes `\u` and its code, which in a string of JSON is the same
 * character. Everything that a command writes on a terminal goes through this.
 */
export function safeText(text: string): string {
  if (PLAIN.test(text)) return text
  return text.replaceAll(deceiving, (char, at: number) =>
    char === '\r' && text[at + 1] === '\n' ? char : unicodeEscape(char),
  )
}

/** The text on one line, nothing in it that a terminal or a log reader would obey. */
export function oneLine(text: string): string {
  return text.replaceAll(onOneLine, ' ').trim()
}

/** The character as a string of JSON can spell it: `\u` and its code, twice for a surrogate pair. */
export function unicodeEscape(char: string): string {
  return char
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}

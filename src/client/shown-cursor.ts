import { createHash } from 'node:crypto'

/** As `URLSearchParams` spells the value of a parameter. */
const PARAMETER = /([?&]cursor=)([\w*.+%-]+)/g

/** A shorter cursor is a word or a number that a text may have for other reasons. */
const LEAST = 4

/**
 * The text with a digest in the place of each pagination cursor in a path: the platform
 * makes cursors of the ids of users, and which of two requests is meant is still seen.
 */
export function withoutCursors(text: string): string {
  return text.replaceAll(
    PARAMETER,
    (_, name: string, value: string) => name + shownCursor(decoded(value)),
  )
}

/** A cursor as errors name it: `[#1f9e0a2b]`. */
export function shownCursor(cursor: string): string {
  return `[#${createHash('sha256').update(cursor).digest('hex').slice(0, 8)}]`
}

/** What the platform says of a request, without the cursor of that request, however it is spelled. */
export function withoutCursorOf(path: string, said: string): string {
  const cursor = new URL(path, 'http://platform').searchParams.get('cursor') ?? ''
  if (cursor.length < LEAST) return said
  const spellings = [
    cursor,
    encodeURIComponent(cursor),
    new URLSearchParams([['', cursor]]).toString().slice(1),
  ]
  return spellings.reduce((rest, spelling) => rest.replaceAll(spelling, '[cursor]'), said)
}

function decoded(value: string): string {
  return new URLSearchParams(`cursor=${value}`).get('cursor') ?? value
}

import type { Readable } from 'node:stream'
import { isTooDeep, jsonObject } from '../lib/json.ts'

/** A longer input is recorded as unreadable. */
export const MAX_INPUT_BYTES = 1024 * 1024

/** Of an input that cannot be read this much is kept. */
const KEPT_CHARACTERS = 4096

/**
 * What came on standard input until its end, until `ms` have passed or until
 * there is more than any event has; whichever is first. Never rejects.
 */
export function readInput(stream: Readable, ms: number): Promise<Uint8Array> {
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = []
    let size = 0
    const end = (): void => {
      clearTimeout(timer)
      stream.destroy()
      resolve(Buffer.concat(chunks))
    }
    const timer = setTimeout(end, ms)
    stream.on('data', (chunk: Uint8Array) => {
      chunks.push(chunk)
      size += chunk.byteLength
      if (size > MAX_INPUT_BYTES) end()
    })
    stream.on('end', end)
    stream.on('error', end)
  })
}

/** What an event's file holds under `input`, its JSON text. */
export interface HookInput {
  readonly json: string
  /** False where no object came: `json` then tells what did. */
  readonly isReadable: boolean
  /** `hook_event_name`, where it is a text. */
  readonly event: string | null
}

/** The object as it came, byte for byte; of anything else how it begins. */
export function inputOf(bytes: Uint8Array): HookInput {
  const text = Buffer.from(bytes)
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trim()
  const isRead = bytes.byteLength <= MAX_INPUT_BYTES && !isTooDeep(text)
  const value = isRead ? jsonObject(text) : undefined
  if (value === undefined) {
    const unreadable = text.slice(0, KEPT_CHARACTERS)
    return { json: JSON.stringify({ unreadable }), isReadable: false, event: null }
  }
  const name = 'hook_event_name' in value ? value.hook_event_name : null
  return { json: text, isReadable: true, event: typeof name === 'string' ? name : null }
}

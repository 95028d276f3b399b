import type { Readable } from 'node:stream'
import { fieldOf, isTooDeep, jsonObject } from '../lib/json.ts'

/** The events on which the agent runs a registered command (PLATFORM_API, "Events"). */
export const HOOK_EVENTS = [
  'Notification',
  'Stop',
  'SubagentStop',
  'SessionEnd',
  'PostToolUse',
] as const

export type HookEventName = (typeof HOOK_EVENTS)[number]

/** Registered by default: all but `PostToolUse`, which comes with every tool call. */
export const DEFAULT_EVENTS: readonly HookEventName[] = HOOK_EVENTS.filter(
  (name) => name !== 'PostToolUse',
)

export function isHookEvent(name: unknown): name is HookEventName {
  return HOOK_EVENTS.some((each) => each === name)
}

/** A longer input is recorded as unreadable. */
export const MAX_INPUT_BYTES = 1024 * 1024

const KEPT_CHARACTERS = 4096

/**
 * Reads standard input until its end or until `ms` have passed. Keeps the beginning of an input
 * that is longer than an event may be, and reads the rest, because the writer would fail if the
 * pipe was closed. Never rejects.
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
      if (size <= MAX_INPUT_BYTES) chunks.push(chunk)
      size += chunk.byteLength
    })
    stream.on('end', end)
    stream.on('error', end)
  })
}

/**
 * The JSON text that an event's file holds under `input`: an object as it came, byte for byte; for
 * any other input, its quoted beginning. `event`: `hook_event_name`, if it is a known name.
 */
export function inputOf(bytes: Uint8Array) {
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
  const name = fieldOf(value, 'hook_event_name')
  return { json: text, isReadable: true, event: isHookEvent(name) ? name : null }
}

/** The text of an event's file. `input` is last, so that its text can be cut out unchanged. */
export function eventText(eventId: string, recordedAt: number, input: string): string {
  const at = new Date(recordedAt).toISOString()
  return `{"event_id":"${eventId}","recorded_at":"${at}","input":${input}}\n`
}

const EVENT_TEXT = /^\{"event_id":"([0-9a-f-]{36})","recorded_at":"([^"]+)","input":([\s\S]*)\}\s*$/

/** A recorded event for the rules and the channels. Missing fields are empty. */
export type HookEvent = Readonly<NonNullable<ReturnType<typeof readEvent>>>

/** Parses what `eventText` wrote; undefined for an unknown event name. */
export function readEvent(content: string) {
  const [, eventId = '', time = '', input = ''] = EVENT_TEXT.exec(content) ?? []
  const fields = jsonObject(input)
  const textOf = (field: string): string => {
    const value = fieldOf(fields, field)
    return typeof value === 'string' ? value : ''
  }
  const name = fieldOf(fields, 'hook_event_name')
  const recordedAt = Date.parse(time)
  if (!isHookEvent(name) || Number.isNaN(recordedAt)) return undefined
  const reason = textOf('reason')
  return {
    /** A UUID: the event's key, which also makes the name of its file unique. */
    eventId,
    /** Milliseconds since the epoch. */
    recordedAt,
    name,
    sessionId: textOf('session_id'),
    cwd: textOf('cwd'),
    message: textOf('message'),
    reason,
    // PLATFORM_API, "Events"
    isFailure: name === 'SessionEnd' && (reason === 'error' || reason === 'other'),
    /** The object as it came, with its secrets redacted: JSON text. */
    input,
  }
}

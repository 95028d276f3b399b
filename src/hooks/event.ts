import type { Readable } from 'node:stream'
import { isTooDeep, jsonObject } from '../lib/json.ts'

/** The events that the agent runs a registered command for (PLATFORM_API, "Events"). */
export const HOOK_EVENTS = [
  'Notification',
  'Stop',
  'SubagentStop',
  'SessionEnd',
  'PostToolUse',
] as const

export type HookEventName = (typeof HOOK_EVENTS)[number]

/** Registered where nothing else is asked for: `PostToolUse` comes with every call of a tool. */
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
  /** False where no object came: `json` then says what did. */
  readonly isReadable: boolean
  /** `hook_event_name`, where it is one of the known. */
  readonly event: HookEventName | null
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
  return { json: text, isReadable: true, event: isHookEvent(name) ? name : null }
}

/** The text of an event's file. `input` stands last, so that its text can be cut out as it came. */
export function eventText(eventId: string, recordedAt: number, input: string): string {
  const at = new Date(recordedAt).toISOString()
  return `{"event_id":"${eventId}","recorded_at":"${at}","input":${input}}\n`
}

const EVENT_TEXT = /^\{"event_id":"([0-9a-f-]{36})","recorded_at":"([^"]+)","input":([\s\S]*)\}\s*$/

/** A recorded event, as the rules and the channels see it. What did not come is empty. */
export interface HookEvent {
  readonly eventId: string
  /** Milliseconds since the epoch. */
  readonly recordedAt: number
  readonly name: HookEventName
  readonly sessionId: string
  readonly cwd: string
  readonly message: string
  readonly reason: string
  readonly isFailure: boolean
  /** The object as it came, its secrets taken out: JSON text. */
  readonly input: string
}

/** Reads what `eventText` wrote; undefined for an event whose name is not known. */
export function readEvent(content: string): HookEvent | undefined {
  const [, eventId = '', time = '', input = ''] = EVENT_TEXT.exec(content) ?? []
  const fields = new Map<string, unknown>(Object.entries(jsonObject(input) ?? {}))
  const textOf = (field: string): string => {
    const value = fields.get(field)
    return typeof value === 'string' ? value : ''
  }
  const name = fields.get('hook_event_name')
  const recordedAt = Date.parse(time)
  if (!isHookEvent(name) || Number.isNaN(recordedAt)) return undefined
  const reason = textOf('reason')
  return {
    eventId,
    recordedAt,
    name,
    sessionId: textOf('session_id'),
    cwd: textOf('cwd'),
    message: textOf('message'),
    reason,
    // PLATFORM_API, "Events"
    isFailure: name === 'SessionEnd' && (reason === 'error' || reason === 'other'),
    input,
  }
}

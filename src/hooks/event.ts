import { z } from 'zod'
import { jsonObject } from '../lib/json.ts'
import { isHookEvent, type HookEventName } from './events.ts'

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

const FILE = /^\{"event_id":"([0-9a-f-]{36})","recorded_at":"([^"]+)","input":([\s\S]*)\}\s*$/

const text = z.string().catch('')
const shape = z.object({
  hook_event_name: text,
  session_id: text,
  cwd: text,
  message: text,
  reason: text,
})

/** Reasons of `SessionEnd` that count as failure (PLATFORM_API, "Events"). */
const FAILURES: ReadonlySet<string> = new Set(['error', 'other'])

/** Reads an event's file; undefined for an event whose name is not known. */
export function readEvent(content: string): HookEvent | undefined {
  const [, eventId = '', time = '', input = ''] = FILE.exec(content) ?? []
  const { hook_event_name: name, ...fields } = shape.parse(jsonObject(input) ?? {})
  const recordedAt = Date.parse(time)
  if (!isHookEvent(name) || Number.isNaN(recordedAt)) return undefined
  const { session_id: sessionId, cwd, message, reason } = fields
  const isFailure = name === 'SessionEnd' && FAILURES.has(reason)
  return { eventId, recordedAt, name, sessionId, cwd, message, reason, isFailure, input }
}

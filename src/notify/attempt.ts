import { z } from 'zod'
import type { World } from '../lib/world.ts'
import type { Environment } from '../lib/trust.ts'

export const messageShape = z.object({
  /** The same at every attempt, so that a receiver can recognise a repetition. */
  id: z.string(),
  event_id: z.string(),
  event: z.string(),
  /** ISO 8601. */
  recorded_at: z.string(),
  is_failure: z.boolean(),
  title: z.string(),
  text: z.string(),
  /** The event as it came: JSON text. */
  input: z.string(),
})

export type Message = Readonly<z.output<typeof messageShape>>

export type Attempt =
  | { readonly kind: 'delivered' }
  /** Another attempt would not help. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** A later attempt may succeed; `waitMs` is the wait that the receiver asks for. */
  | { readonly kind: 'later'; readonly reason: string; readonly waitMs?: number }

export const DELIVERED: Attempt = { kind: 'delivered' }

export function refused(reason: string): Attempt {
  return { kind: 'refused', reason }
}

export function later(reason: string, waitMs?: number): Attempt {
  return { kind: 'later', reason, ...(waitMs === undefined ? {} : { waitMs }) }
}

/** What a delivery uses of its surroundings. */
export interface Delivery {
  readonly world: Pick<World, 'fetch' | 'now' | 'hangUp'>
  readonly environment: Environment
  readonly platform: NodeJS.Platform
  /** Milliseconds that a receiver has to answer. */
  readonly timeoutMs: number
}

/** The message of an error on one line, without the secrets. */
export function reasonOf(error: unknown, secrets: readonly string[] = []): string {
  const message = error instanceof Error ? error.message : String(error)
  const without = secrets
    .filter((secret) => secret !== '')
    .sort((a, b) => b.length - a.length)
    .reduce((text, secret) => text.replaceAll(secret, '[redacted]'), message)
  return plain(without)
}

const MAX_VALUE = 500

/** Control characters, line ends, and characters that change the direction of writing. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu

/** A value as part of a message: control characters become blanks. */
export function plain(value: string): string {
  return cut(value.replaceAll(CONTROLS, ' ').trim(), MAX_VALUE)
}

/** At most `most` characters; surrogate pairs stay whole. */
export function cut(text: string, most: number): string {
  const characters = Array.from(text)
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`
}

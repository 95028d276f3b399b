import type { World } from '../lib/world.ts'
import type { Environment } from '../lib/trust.ts'

/** What a channel is to say. */
export interface Message {
  /** The same at every attempt, so that a receiver can recognise a repetition. */
  readonly id: string
  readonly title: string
  readonly text: string
  /** ISO 8601. */
  readonly recorded_at: string
  readonly event_id: string
  readonly event: string
  readonly is_failure: boolean
  /** What it is about, as it came: JSON text. */
  readonly input: string
}

/** What came of trying to deliver a message. */
export type Attempt =
  | { readonly kind: 'delivered' }
  /** Trying again would not help. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** May go well later, not before `waitMs` where the receiver said so. */
  | { readonly kind: 'later'; readonly reason: string; readonly waitMs?: number }

export const DELIVERED: Attempt = { kind: 'delivered' }

export function refused(reason: string): Attempt {
  return { kind: 'refused', reason }
}

export function later(reason: string, waitMs?: number): Attempt {
  return { kind: 'later', reason, ...(waitMs === undefined ? {} : { waitMs }) }
}

/** What delivering takes from outside. */
export interface Delivery {
  readonly world: Pick<World, 'fetch' | 'now' | 'hangUp'>
  readonly environment: Environment
  readonly platform: NodeJS.Platform
  /** Milliseconds that a receiver has to answer. */
  readonly timeoutMs: number
}

/** One line for an error, none of the secrets in it. */
export function reasonOf(error: unknown, secrets: readonly string[] = []): string {
  const message = error instanceof Error ? error.message : String(error)
  const without = secrets
    .filter((secret) => secret !== '')
    .sort((a, b) => b.length - a.length)
    .reduce((text, secret) => text.replaceAll(secret, '[redacted]'), message)
  return plain(without)
}

const MAX_VALUE = 500

/** Control characters, ends of lines, and what turns the direction of writing. */
const OBEYED = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu

/** A value as part of a message: what a terminal or a reader would obey becomes a blank. */
export function plain(value: string): string {
  return cut(value.replaceAll(OBEYED, ' ').trim(), MAX_VALUE)
}

/** At most so many characters; one outside the basic plane is not cut in two. */
export function cut(text: string, most: number): string {
  const characters = Array.from(text)
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`
}

import type { World } from '../lib/world.ts'
import { missingVariables, type Environment } from './variables.ts'
import { plain } from './template.ts'
import type { Channel } from './config.ts'

/** What came of trying to deliver a notification. */
export type Attempt =
  | { readonly kind: 'delivered' }
  /** Trying again would not help. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** May go well later, not before `waitMs` where the receiver said so. */
  | { readonly kind: 'later'; readonly reason: string; readonly waitMs?: number }

/** What delivering takes from outside. */
export interface Delivery {
  readonly world: Pick<World, 'fetch' | 'now' | 'hangUp'>
  readonly environment: Environment
  readonly platform: NodeJS.Platform
  /** Milliseconds that a receiver has to answer. */
  readonly timeoutMs: number
}

export function refused(reason: string): Attempt {
  return { kind: 'refused', reason }
}

export function later(reason: string, waitMs?: number): Attempt {
  return { kind: 'later', reason, ...(waitMs === undefined ? {} : { waitMs }) }
}

/** The value of a variable that a channel names; it is there, because that was looked at before. */
export function secretOf(variable: string, environment: Environment): string {
  return (environment[variable] ?? '').trim()
}

/** The variables of the channel that this environment has not. */
export function lackOf(channel: Channel, environment: Environment): string[] {
  return missingVariables({ channels: { channel } }, environment).map(({ variable }) => variable)
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

import { isAbsolute } from 'node:path'
import { z } from 'zod'
import { messageOf } from '../lib/errors.ts'
import type { World } from '../lib/world.ts'
import { cut, oneLine } from '../lib/text.ts'
import { isLoopback, type Environment } from '../lib/trust.ts'

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
  const without = secrets
    .filter((secret) => secret !== '')
    .sort((a, b) => b.length - a.length)
    .reduce((text, secret) => text.replaceAll(secret, '[redacted]'), messageOf(error))
  return plain(without)
}

const MAX_VALUE = 500

/** A value as part of a message: control characters become blanks. */
export function plain(value: string): string {
  return cut(oneLine(value), MAX_VALUE)
}

const variable = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable')

/** `Name <user@host>` or `user@host`, without line ends, which would end a header. */
const address = z.string().regex(/^[^\r\n]*[^\s@<>]+@[^\s@<>]+>?$/, 'must be an e-mail address')

const desktop = z.strictObject({ type: z.literal('desktop') })

const sound = z
  .strictObject({
    type: z.literal('sound'),
    /** Default: the terminal's bell. The sender works in another folder than the agent. */
    file: z.string().refine(isAbsolute, 'must be an absolute path').optional(),
    /** Default: the usual player of the system. */
    player: z.string().min(1).optional(),
  })
  .refine(({ file, player }) => player === undefined || file !== undefined, {
    message: 'a player needs a file to play',
    path: ['file'],
  })

const teamChat = z.strictObject({ type: z.literal('team-chat'), url_env: variable })

const webhook = z.strictObject({
  type: z.literal('webhook'),
  url_env: variable,
  /** Absent: the requests are not signed. */
  secret_env: variable.optional(),
})

const email = z
  .strictObject({
    type: z.literal('email'),
    host: z.string().regex(/^[A-Za-z0-9.:_-]+$/, 'must be the name of a host'),
    port: z.int().min(1).max(65_535).optional(),
    security: z.enum(['starttls', 'tls', 'none']).default('starttls'),
    user: z.string().min(1).optional(),
    password_env: variable.optional(),
    from: address,
    to: z.array(address).min(1).max(50),
  })
  .refine(({ user, password_env }) => (user === undefined) === (password_env === undefined), {
    message: 'user and password_env must be given together',
    path: ['password_env'],
  })
  .refine((each) => each.security !== 'none' || each.user === undefined || isLoopback(each.host), {
    message: 'a password is only sent over tls or starttls, except to this machine',
    path: ['security'],
  })

/** Where notifications go. Secrets are named by their environment variables. */
export const channelSchema = z.discriminatedUnion('type', [
  desktop,
  sound,
  teamChat,
  webhook,
  email,
])

export type Channel = z.output<typeof channelSchema>
export type ChannelOf<T extends Channel['type']> = Extract<Channel, { type: T }>

/** The value of a variable that a channel names; empty if it is not set. */
export function secretOf(variable: string | undefined, environment: Environment): string {
  return (variable === undefined ? '' : (environment[variable] ?? '')).trim()
}

export function missingIn(channel: Channel, environment: Environment): readonly string[] {
  const named = Object.entries(channel).flatMap(([field, value]) =>
    field.endsWith('_env') && typeof value === 'string' ? [value] : [],
  )
  return named.filter((each) => secretOf(each, environment) === '')
}

export function missingVariables(
  { channels }: { readonly channels: Readonly<Record<string, Channel>> },
  environment: Environment,
): { readonly channel: string; readonly variable: string }[] {
  return Object.entries(channels).flatMap(([name, channel]) =>
    missingIn(channel, environment).map((each) => ({ channel: name, variable: each })),
  )
}

import { z } from 'zod'
import { isLoopback } from '../lib/trust.ts'
import { HOOK_EVENTS, type HookEventName } from './events.ts'
import { TEMPLATE_FIELDS, unknownField } from './template.ts'

const variable = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable')

const event = z.enum(HOOK_EVENTS)

/** An address as `Name <user@host>` or `user@host`, without what would end a header's line. */
const address = z.string().regex(/^[^\r\n]*[^\s@<>]+@[^\s@<>]+>?$/, 'must be an e-mail address')

const desktop = z.strictObject({ type: z.literal('desktop') })

const sound = z
  .strictObject({
    type: z.literal('sound'),
    /** Absent: the terminal's bell. */
    file: z.string().min(1).optional(),
    /** Absent: the usual one of the system. */
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
    message: 'user and password_env go together',
    path: ['password_env'],
  })
  .refine((each) => each.security !== 'none' || each.user === undefined || isLoopback(each.host), {
    message: 'a password is sent over tls or starttls only, except to this machine itself',
    path: ['security'],
  })

const channel = z.discriminatedUnion('type', [desktop, sound, teamChat, webhook, email])

const time = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time as 22:00, in quotes')

const timezone = z.string().refine(isTimezone, 'must be a time zone as Europe/Paris or UTC')

function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).format(0) !== ''
  } catch {
    return false
  }
}

const quietHours = z
  .strictObject({
    from: time,
    to: time,
    /** Absent: the machine's. */
    timezone: timezone.optional(),
    /** Failures are told all the same. */
    except: z.literal('failure').optional(),
  })
  .refine(({ from, to }) => from !== to, { message: 'must not be the same as from', path: ['to'] })

const rule = z.strictObject({
  events: z.array(event).min(1),
  when: z.enum(['any', 'failure']).default('any'),
  channels: z.array(z.string()).min(1),
  /** Instead of those for all rules; `off`: this rule has none. */
  quiet_hours: z.union([z.literal('off'), quietHours]).optional(),
})

const NAME = /^[a-z0-9][a-z0-9_-]{0,39}$/

/** `hooks` of agent-warehouse.yaml. Secrets are named by their environment variables alone. */
export const hooksSchema = z
  .strictObject({
    /** Whose events these are, in the warehouse. */
    organisation: z.string().min(1).optional(),
    channels: z
      .record(z.string().regex(NAME, 'is small letters, digits, - and _'), channel)
      .default({}),
    rules: z.array(rule).default([]),
    quiet_hours: quietHours.optional(),
    /** The same again within so many seconds is told once; 0: always. */
    dedupe_seconds: z.number().nonnegative().max(86_400).default(10),
    templates: z.partialRecord(event, z.string().min(1).max(2000)).default({}),
  })
  .superRefine(checkNames)

export type HooksConfig = z.output<typeof hooksSchema>
export type Channel = z.output<typeof channel>
export type Rule = z.output<typeof rule>
export type QuietHours = z.output<typeof quietHours>
export type ChannelOf<T extends Channel['type']> = Extract<Channel, { type: T }>

/** What holds where the file says nothing of hooks: events are recorded, and no notification is sent. */
export const NO_HOOKS: HooksConfig = hooksSchema.parse({})

interface Named {
  readonly channels: Readonly<Record<string, unknown>>
  readonly rules: readonly Rule[]
  readonly templates: Readonly<Partial<Record<HookEventName, string>>>
}

function checkNames(hooks: Named, context: z.RefinementCtx): void {
  const known = Object.keys(hooks.channels)
  for (const [index, { channels }] of hooks.rules.entries()) {
    for (const [at, name] of channels.entries()) {
      if (known.includes(name)) continue
      const message = `there is no channel '${name}'; known: ${known.join(', ') || 'none'}`
      context.addIssue({ code: 'custom', message, path: ['rules', index, 'channels', at] })
    }
  }
  for (const [name, template] of Object.entries(hooks.templates)) {
    const field = unknownField(template)
    if (field === undefined) continue
    const message = `there is no {{${field}}}; known: ${TEMPLATE_FIELDS.join(', ')}`
    context.addIssue({ code: 'custom', message, path: ['templates', name] })
  }
}

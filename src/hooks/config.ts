import { z } from 'zod'
import { cut } from '../lib/text.ts'
import { channelSchema, plain, type Channel } from '../notify/channel.ts'
import { HOOK_EVENTS, type HookEventName } from './event.ts'

const event = z.enum(HOOK_EVENTS)

const time = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as 22:00, in quotes')

const timezone = z.string().refine(isTimezone, 'must be a time zone such as Europe/Paris or UTC')

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
    /** Default: the machine's. */
    timezone: timezone.optional(),
    /** Failures are reported anyway. */
    except: z.literal('failure').optional(),
  })
  .refine(({ from, to }) => from !== to, { message: 'must not be the same as from', path: ['to'] })

const rule = z.strictObject({
  events: z.array(event).min(1),
  when: z.enum(['any', 'failure']).default('any'),
  channels: z.array(z.string()).min(1),
  /** Replaces the quiet hours of all rules; `off`: no quiet hours. */
  quiet_hours: z.union([z.literal('off'), quietHours]).optional(),
})

const NAME = /^[a-z0-9][a-z0-9_-]{0,39}$/

/** `hooks` of agent-warehouse.yaml. It names secrets by their environment variables. */
export const hooksSchema = z
  .strictObject({
    /** The organisation of these events in the warehouse. */
    organisation: z.string().min(1).optional(),
    channels: z
      .record(
        z.string().regex(NAME, 'must consist of lower case letters, digits, - and _'),
        channelSchema,
      )
      .default({}),
    rules: z.array(rule).default([]),
    quiet_hours: quietHours.optional(),
    /** Equal events within this time are reported once; 0: always. */
    dedupe_seconds: z.number().nonnegative().max(86_400).default(10),
    templates: z.partialRecord(event, z.string().min(1).max(2000)).default({}),
  })
  .superRefine(({ channels, rules, templates }, context) => {
    const known = Object.keys(channels)
    for (const [index, each] of rules.entries()) {
      for (const [at, name] of each.channels.entries()) {
        if (known.includes(name)) continue
        const message = `there is no channel '${name}'; known: ${known.join(', ') || 'none'}`
        context.addIssue({ code: 'custom', message, path: ['rules', index, 'channels', at] })
      }
    }
    for (const [name, template] of Object.entries(templates)) {
      const field = unknownField(template)
      if (field === undefined) continue
      const message = `there is no {{${field}}}; known: ${TEMPLATE_FIELDS.join(', ')}`
      context.addIssue({ code: 'custom', message, path: ['templates', name] })
    }
  })

export type HooksConfig = z.output<typeof hooksSchema>
export type QuietHours = z.output<typeof quietHours>

/** The channel of a name; undefined for one that is not configured, such as `constructor`. */
export function channelNamed(
  { channels }: Pick<HooksConfig, 'channels'>,
  name: string,
): Channel | undefined {
  return Object.hasOwn(channels, name) ? channels[name] : undefined
}

/** Names that a template may use, such as `{{message}}`. */
export const TEMPLATE_FIELDS = [
  'event',
  'message',
  'reason',
  'session_id',
  'cwd',
  'project',
  'recorded_at',
] as const

type TemplateField = (typeof TEMPLATE_FIELDS)[number]
export type TemplateValues = Readonly<Record<TemplateField, string>>

const DEFAULT_TEMPLATES: Readonly<Record<HookEventName, string>> = {
  Notification: '{{project}}: {{message}}',
  Stop: '{{project}}: the agent has finished',
  SubagentStop: '{{project}}: a subagent has finished',
  SessionEnd: '{{project}}: the session has ended ({{reason}})',
  PostToolUse: '{{project}}: the agent has used a tool',
}

const FIELD = /\{\{\s*([^{}]*?)\s*\}\}/g
const MAX_TEXT = 3000

export function unknownField(template: string): string | undefined {
  return [...template.matchAll(FIELD)].map(([, name = '']) => name).find((name) => !isField(name))
}

function isField(name: string): name is TemplateField {
  return TEMPLATE_FIELDS.some((each) => each === name)
}

/**
 * The text of a notification. Values are data: braces in them stay, control characters
 * become blanks, and long values are cut.
 */
export function render(
  event: HookEventName,
  templates: HooksConfig['templates'],
  values: TemplateValues,
): string {
  const template = templates[event] ?? DEFAULT_TEMPLATES[event]
  const text = template.replaceAll(FIELD, (whole, name: string) =>
    isField(name) ? plain(values[name]) : whole,
  )
  return cut(text.trim(), MAX_TEXT)
}

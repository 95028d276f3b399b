import type { HookEventName } from './events.ts'

/** What a template may name as `{{message}}`. */
export const TEMPLATE_FIELDS = [
  'event',
  'message',
  'reason',
  'session_id',
  'cwd',
  'project',
  'recorded_at',
] as const

export type TemplateField = (typeof TEMPLATE_FIELDS)[number]
export type TemplateValues = Readonly<Record<TemplateField, string>>

/** Said where the configuration has no template for the event. */
const DEFAULT_TEMPLATES: Readonly<Record<HookEventName, string>> = {
  Notification: '{{project}}: {{message}}',
  Stop: '{{project}}: the agent has finished',
  SubagentStop: '{{project}}: a subagent has finished',
  SessionEnd: '{{project}}: the session has ended ({{reason}})',
  PostToolUse: '{{project}}: the agent has used a tool',
}

const FIELD = /\{\{\s*([^{}]*?)\s*\}\}/g
const MAX_VALUE = 500
const MAX_TEXT = 3000

/** The first name in the template that is none; undefined when all are known. */
export function unknownField(template: string): string | undefined {
  return [...template.matchAll(FIELD)].map(([, name = '']) => name).find((name) => !isField(name))
}

function isField(name: string): name is TemplateField {
  return TEMPLATE_FIELDS.some((each) => each === name)
}

/**
 * The text of a notification. Values are data: braces in them stay braces, what
 * a terminal or a reader would obey becomes a blank, and long ones are cut.
 */
export function render(
  event: HookEventName,
  templates: Readonly<Partial<Record<HookEventName, string>>>,
  values: TemplateValues,
): string {
  const template = templates[event] ?? DEFAULT_TEMPLATES[event]
  const text = template.replaceAll(FIELD, (whole, name: string) =>
    isField(name) ? plain(values[name]) : whole,
  )
  return cut(text.trim(), MAX_TEXT)
}

/** A value as part of a notification. */
export function plain(value: string): string {
  return cut(value.replaceAll(OBEYED, ' ').trim(), MAX_VALUE)
}

/** Control characters, ends of lines, and what turns the direction of writing. */
const OBEYED = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu

/** At most so many characters; one outside the basic plane is not cut in two. */
function cut(text: string, most: number): string {
  const characters = Array.from(text)
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`
}

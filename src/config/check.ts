import { z } from 'zod'
import { UsageError } from '../lib/errors.ts'
import { cut, suggestion } from '../lib/text.ts'

/**
 * Checks a value of the configuration.
 *
 * @throws UsageError naming the place and the wrong value.
 */
export function check<T>(schema: z.ZodType<T>, value: unknown, where: string, hint?: string): T {
  const result = schema.safeParse(value, { error: wording })
  if (result.success) return result.data
  const issue = worst(result.error.issues)
  const path = issue === undefined || issue.path.length === 0 ? '' : ` ${issue.path.join('.')}`
  const [what = 'is not valid', ownHint = hint] = issue?.message.split(HINT) ?? []
  throw new UsageError(`${where}${path}:${shown(value, issue)} ${what}`, { hint: ownHint })
}

type Issue = z.core.$ZodIssue

const MOST_SHOWN = 81

/** The wrong value; not a text in place of settings, which may be a file with a key. */
function shown(value: unknown, issue: Issue | undefined): string {
  if (typeof value === 'number') return ` '${value}'`
  const isSettings = issue?.code === 'invalid_type' && issue.expected === 'object'
  if (typeof value !== 'string' || isSettings) return ''
  return ` '${cut(value, MOST_SHOWN)}'`
}

/** The issue to report: an unknown name first, because a misspelt setting is also a missing one. */
function worst(issues: readonly Issue[]): Issue | undefined {
  const within = issues.flatMap(withinUnion)
  return within.find(({ code }) => code === 'unrecognized_keys') ?? within[0]
}

/** The issues of the alternative that the value resembles, else the issue itself. */
function withinUnion(issue: Issue): readonly Issue[] {
  if (issue.code !== 'invalid_union') return [issue]
  const isInside = ({ code, path }: Issue): boolean =>
    path.length > 0 || code === 'unrecognized_keys'
  const meant = issue.errors.find((each) => each.some(isInside)) ?? []
  if (meant.length === 0) return [issue]
  return meant.map((each) => ({ ...each, path: [...issue.path, ...each.path] }))
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'settings in the form name: value',
  record: 'settings in the form name: value',
}

/** Separates a message from its hint. */
const HINT = '\0hint\0'

/** What is wrong, in words, with or without a hint; undefined for the schema's own message. */
function wording(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys
    return `there is no setting '${key}'${HINT}${suggestion(key, namesIn(issue.inst))}`
  }
  if (issue.input === undefined) return 'is missing'
  if (issue.code === 'invalid_type') {
    const kind = KINDS[issue.expected]
    return kind === undefined ? undefined : `must be ${kind}`
  }
  if (issue.code === 'too_small') {
    const isNumber = issue.origin === 'number' || issue.origin === 'int'
    return isNumber ? `must be at least ${issue.minimum}` : 'must not be empty'
  }
  if (issue.code === 'too_big')
    return `must be at most ${issue.maximum}${UNITS[issue.origin] ?? ''}`
  if (issue.code === 'invalid_value') return oneOf(issue.values)
  if (issue.code === 'invalid_key') return issue.issues[0]?.message
  return issue.code === 'invalid_union' ? alternatives(issue) : undefined
}

/** The settings that a schema allows. */
function namesIn(schema: unknown): string[] {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape)
  const names = schema instanceof z.ZodRecord ? schema.keyType : undefined
  return names instanceof z.ZodEnum ? names.options.map(String) : []
}

const UNITS: Readonly<Record<string, string>> = {
  string: ' characters long',
  array: ' entries long',
}

function oneOf(values: readonly unknown[]): string {
  const [only] = values
  return values.length === 1 ? `must be ${String(only)}` : `must be one of ${values.join(', ')}`
}

function alternatives(issue: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>): string {
  if ('options' in issue && Array.isArray(issue.options)) return oneOf(issue.options)
  const messages = issue.errors.flatMap(([first]) => first?.message ?? [])
  return messages.map((each, at) => (at === 0 ? each : each.replace(/^must be /, ''))).join(' or ')
}

import * as library from '@huggingface/jinja'
import { z } from 'zod'

/** The one door to the template library. Its own types do not resolve, so it is typed here. */

const tokenShape = z.object({ type: z.string(), value: z.string() })

export type Token = z.output<typeof tokenShape>

interface Environment {
  set: (name: string, value: unknown) => unknown
}

const { tokenize, parse, Environment, Interpreter } = z
  .object({
    tokenize: z.custom<(text: string) => unknown>(isFunction),
    parse: z.custom<(tokens: Token[]) => unknown>(isFunction),
    Environment: z.custom<new () => Environment>(isFunction),
    Interpreter:
      z.custom<new (environment: Environment) => { run: (program: unknown) => unknown }>(
        isFunction,
      ),
  })
  .parse(library)

/** Renders a parsed template; the functions among `globals` get plain arguments. */
export type Template = (globals: Readonly<Record<string, unknown>>) => string

/** Tokens of a template, with dbt's white space rules. */
export function lex(text: string): Token[] {
  return z.array(tokenShape).parse(tokenize(text))
}

export function compile(tokens: readonly Token[]): Template {
  const program = parse([...tokens])
  return (globals) => {
    const environment = new Environment()
    for (const [name, value] of Object.entries(globals)) environment.set(name, value)
    return z.object({ value: z.string() }).parse(new Interpreter(environment).run(program)).value
  }
}

/**
 * An argument of a called function as plain data. The library hands over the
 * inside of each argument, and keyword arguments as one Map at the end, so
 * lists and maps still hold its own wrappers.
 */
export function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (value instanceof Map) {
    return Object.fromEntries([...value].map(([key, item]) => [String(key), plain(item)]))
  }
  if (typeof value === 'object' && value !== null && 'value' in value) return plain(value.value)
  return value
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function'
}

import type { Context } from 'hono'
import type { z } from 'zod'
import { badRequest, Refusal } from './problems.ts'

/** A whole number of the query; undefined without one. @throws Refusal 400 out of its bounds. */
export function wholeOf(
  query: URLSearchParams,
  name: string,
  least: number,
  most: number,
): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  const value = /^\d{1,9}$/.test(text) ? Number(text) : -1
  if (value >= least && value <= most) return value
  throw badRequest(`${name} '${text}' is not a whole number from ${least} to ${most}`)
}

/** The body of a request. @throws Refusal 400 when it is not what the API accepts. */
export async function bodyOf<T>(context: Context, schema: z.ZodType<T>): Promise<T> {
  const text = await context.req.text()
  const result = schema.safeParse(parsed(text))
  if (result.success) return result.data
  const issue = result.error.issues[0]
  throw badRequest(`${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not accepted'}`)
}

/** 404: no such thing. */
export function notFound(what: string, id: string): Refusal {
  return new Refusal(404, 'Not Found', `there is no ${what} '${id}'`)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw badRequest('the body is not JSON')
  }
}

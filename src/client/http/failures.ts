import { fieldOf, jsonObject } from '../../lib/json.ts'
import { withoutSecrets } from '../../lib/secrets/secret-forms.ts'
import type { HttpResponse } from '../../lib/world.ts'
import {
  ApiError,
  RefusedError,
  type Problem,
  withoutCursorOf,
  BodyError,
  TransportError,
} from '../errors.ts'

/** No error needs more: a longer one is not read, and of its words so many are shown. */
export const MAX_PROBLEM_BYTES = 256 * 1024
const MAX_WORDS = 2_000

/** Reads a Problem body; what is no such body (an HTML page of a proxy, nothing) has NULL fields. */
function problemOf({ body, headers }: HttpResponse): Problem {
  const said = jsonObject(Buffer.from(body).toString('utf8'))
  const status = fieldOf(said, 'status')
  return {
    title: textOf(fieldOf(said, 'title')),
    detail: textOf(fieldOf(said, 'detail')),
    status: typeof status === 'number' ? status : null,
    requestId: textOf(fieldOf(said, 'requestId')) ?? headers['x-request-id'] ?? null,
    metadata: objectOf(fieldOf(said, 'metadata')),
  }
}

/** The error that an answer with status 400 or above becomes. */
export function failureOf(method: string, path: string, response: HttpResponse): Error {
  const problem = problemOf(response)
  const { status } = response
  const said = wordsOf(path, problem)
  const id = problem.requestId === null ? '' : ` (request ${problem.requestId})`
  const message = `${method} ${path}: ${status}${said === '' ? '' : ` ${said}`}${id}`
  if (status !== 401 && status !== 403) return new ApiError(message, status, problem)
  return new RefusedError(message, status, problem, { hint: hintOf(status, path) })
}

function hintOf(status: number, path: string): string {
  if (status === 401) {
    return 'The credential in AGENT_API_KEY is not valid: generate a new one at <app-url>/settings/api-keys.'
  }
  return path.startsWith('/api/v1/analytics/')
    ? 'Analytics need a key of someone with the role Manager or Owner: members and guests are refused.'
    : 'The role behind the key, or the organisation’s plan, does not allow this.'
}

/**
 * What the platform says of a failure, as far as it may be passed on: it may quote
 * what it was asked for, and enterprise controls carry secrets of any form. Names of people
 * in plain words cannot be recognised, and stay: without its reason a failure
 * cannot be fixed.
 */
function wordsOf(path: string, { title, detail }: Problem): string {
  if (path.startsWith('/api/v0/organization/enterprise-controls/')) return ''
  const said = [title, detail].filter((text) => text !== null).join(': ')
  return withoutSecrets(withoutCursorOf(path, said), () => '[redacted]').replaceAll(
    E_MAIL,
    '[e-mail address]',
  )
}

/** Whose it is, is said nowhere: what failed is on record and in the published warehouse. */
const E_MAIL = /[^\s@"'<>()]{1,64}@[^\s@"'<>()]{1,255}/g

function objectOf(value: unknown): Problem['metadata'] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null
}

function textOf(value: unknown): string | null {
  if (typeof value !== 'string' || value === '') return null
  return value.length > MAX_WORDS ? `${value.slice(0, MAX_WORDS)}…` : value
}

/** Attempts beyond the first for a failure that may pass. */
export const RETRIES = 5

/** Refusals for rate are waited out longer than faults: the server is well and says when. */
export const RATE_RETRIES = 20

/**
 * What one request may still be repeated for. Waits and faults are counted apart:
 * however often the server said "later", a fault has all of its retries, and the reverse.
 */
export class RetryBudget {
  #waits = 0
  #faults = 0

  /** Which wait the next refusal for rate would be, from 1. */
  get nextWait(): number {
    return this.#waits + 1
  }

  /** Counts a failure; returns which of its kind it is, or null where that kind has no retry left. */
  spend(error: unknown): number | null {
    const isWait = isRateRefusal(error)
    const count = isWait ? (this.#waits += 1) : (this.#faults += 1)
    return count > (isWait ? RATE_RETRIES : RETRIES) ? null : count
  }
}

const RETRYABLE = new Set([408, 425, 429, 500, 502, 503, 504])

/** True when the same request may do better a moment later. Nothing else is ever repeated. */
export function mayPass(error: unknown): boolean {
  if (error instanceof ApiError) return RETRYABLE.has(error.status)
  return error instanceof TransportError || error instanceof BodyError
}

/** True when no answer came in time: one to a smaller request may. */
export function isTooSlow(error: unknown): boolean {
  if (error instanceof ApiError) return error.status === 504
  return error instanceof TransportError && error.timedOut
}

/** True for the answer that says "too much", as opposed to "broken". */
export function isRateRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 429
}

const BASE_MS = 500
const CEILING_MS = 30_000

/**
 * Exponential wait with full jitter: uniform in [0, 500 ms * 2^(attempt - 1)],
 * at most 30 s. `attempt` counts from 1, `random` is in [0, 1).
 */
export function backoffMs(attempt: number, random: number): number {
  const ceiling = Math.min(CEILING_MS, BASE_MS * 2 ** (attempt - 1))
  return Math.round(ceiling * random)
}

import { fieldOf, isObject, jsonObject } from '../../lib/json.ts'
import { withoutSecrets } from '../../lib/secrets/secret-forms.ts'
import type { HttpHead } from '../../lib/world.ts'
import {
  ApiError,
  ContradictionError,
  RefusedError,
  type Problem,
  withoutCursorOf,
  BodyError,
  TransportError,
} from '../errors.ts'

/** A longer error body is not read. */
export const MAX_PROBLEM_BYTES = 256 * 1024
/** A longer text of an error is cut. */
const MAX_TEXT = 2_000

/** Reads a Problem body. Every field is null for any other body, such as an HTML page of a proxy. */
function problemOf({ headers }: HttpHead, body: string): Problem {
  const parsed = jsonObject(body)
  const status = fieldOf(parsed, 'status')
  const metadata = fieldOf(parsed, 'metadata')
  return {
    title: textOf(fieldOf(parsed, 'title')),
    detail: textOf(fieldOf(parsed, 'detail')),
    status: typeof status === 'number' ? status : null,
    requestId: textOf(fieldOf(parsed, 'requestId')) ?? headers['x-request-id'] ?? null,
    metadata: isObject(metadata) ? metadata : null,
  }
}

/** The error that a response with a status outside 2xx becomes. */
export function failureOf(method: string, path: string, head: HttpHead, body: string): Error {
  const problem = problemOf(head, body)
  const { status } = head
  const text = wordsOf(path, problem) || usualWords(status)
  const id = problem.requestId === null ? '' : ` (request ${problem.requestId})`
  const message = `${method} ${path}: ${status} ${text}${id}`
  if (status !== 401 && status !== 403) return new ApiError(message, status, problem)
  return new RefusedError(message, status, problem, { hint: hintOf(status, path) })
}

/** What a status means, for a response that does not say it or whose text is left out. */
function usualWords(status: number): string {
  if (status < 400) return 'redirect, which is not followed: check the base URL or the app URL'
  if (status === 404) return 'not found: check the base URL or the app URL'
  return status < 500 ? 'refused by the server' : 'failure of the server'
}

function hintOf(status: number, path: string): string {
  if (status === 401) {
    return 'The credential is not valid: generate a new one at <app-url>/settings/api-keys.'
  }
  return path.startsWith('/api/v1/analytics/')
    ? 'Analytics need the key of a Manager or Owner; the platform refuses members and guests.'
    : 'The role behind the key, or the organisation’s plan, does not allow this.'
}

/**
 * The platform's text about a failure, without personal data and secrets. It may quote the
 * request; for enterprise controls, whose secrets have any form, all of it is left out. Names of
 * people cannot be recognised and stay: a failure without its reason cannot be fixed.
 */
function wordsOf(path: string, { title, detail }: Problem): string {
  if (path.startsWith('/api/v0/organization/enterprise-controls/')) return ''
  const text = [title, detail].filter((part) => part !== null).join(': ')
  return withoutSecrets(withoutCursorOf(path, text), () => '[redacted]').replaceAll(
    E_MAIL,
    '[e-mail address]',
  )
}

const E_MAIL = /[^\s@"'<>()]{1,64}@[^\s@"'<>()]{1,255}/g

function textOf(value: unknown): string | null {
  if (typeof value !== 'string' || value === '') return null
  return value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value
}

/** Retries after a fault. */
export const RETRIES = 5

/**
 * Retries of a request that timed out: each takes minutes, and an organisation that never
 * responses must not delay the others for hours.
 */
const TIMEOUT_RETRIES = 1

/** Rate refusals have more retries than faults, because the server works and says when to come back. */
export const RATE_RETRIES = 20

/**
 * The retries that one request has left. Waits and faults are counted separately:
 * neither uses up the retries of the other.
 */
export class RetryBudget {
  #waits = 0
  #faults = 0
  #timeouts = 0

  /** The number, from 1, of the wait that the next rate refusal would lead to. */
  get nextWait(): number {
    return this.#waits + 1
  }

  /** Counts a failure. Returns its number among its kind, or null if no retry is left. */
  spend(error: unknown): number | null {
    if (isRateRefusal(error)) {
      this.#waits += 1
      return this.#waits > RATE_RETRIES ? null : this.#waits
    }
    this.#faults += 1
    if (isTimeout(error)) this.#timeouts += 1
    return this.#faults > RETRIES || this.#timeouts > TIMEOUT_RETRIES ? null : this.#faults
  }
}

const RETRYABLE = new Set([408, 425, 429, 500, 502, 503, 504])

/** True if the same request may succeed a moment later. Nothing else is retried. */
export function mayPass(error: unknown): boolean {
  if (error instanceof ApiError) return RETRYABLE.has(error.status)
  if (error instanceof ContradictionError) return false
  return error instanceof TransportError || error instanceof BodyError
}

/** True if no response came in time; the response to a smaller request may. */
export function isTooSlow(error: unknown): boolean {
  return isTimeout(error) || (error instanceof ApiError && error.status === 504)
}

export function isTimeout(error: unknown): boolean {
  return error instanceof TransportError && error.timedOut
}

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

import { createHash } from 'node:crypto'
import { AppError, CredentialError, DeferredError, type FailureOptions } from '../lib/errors.ts'

/** A cursor as `URLSearchParams` spells it. */
const PARAMETER = /([?&]cursor=)([\w*.+%-]+)/g

/** A shorter cursor is a word or a number that may occur in a text by chance. */
const LEAST = 4

/**
 * Replaces each pagination cursor in a path by a digest, because the platform makes
 * cursors of the ids of users. Different requests still look different.
 */
export function withoutCursors(text: string): string {
  return text.replaceAll(PARAMETER, (parameter: string, name: string, value: string) => {
    const cursor = new URLSearchParams(parameter.slice(1)).get('cursor')
    return name + shownCursor(cursor ?? value)
  })
}

/** A cursor as errors name it: `[#1f9e0a2b]`. */
export function shownCursor(cursor: string): string {
  return `[#${createHash('sha256').update(cursor).digest('hex').slice(0, 8)}]`
}

/** The platform's text about a request, without the cursor of that request in any spelling. */
export function withoutCursorOf(path: string, text: string): string {
  const cursor = new URL(path, 'http://platform').searchParams.get('cursor') ?? ''
  if (cursor.length < LEAST) return text
  const spellings = [
    cursor,
    encodeURIComponent(cursor),
    new URLSearchParams([['', cursor]]).toString().slice(1),
  ]
  return spellings.reduce((rest, spelling) => rest.replaceAll(spelling, '[cursor]'), text)
}

/** The error body of every endpoint (PLATFORM_API, "Problem body"). Missing fields are null. */
export interface Problem {
  readonly title: string | null
  readonly detail: string | null
  readonly status: number | null
  readonly requestId: string | null
  readonly metadata: Readonly<Record<string, unknown>> | null
}

/** No complete response was received: refused, reset, timed out, or cut off. */
export class TransportError extends AppError {
  /** Whether the time limit of the request ended it. */
  readonly timedOut: boolean
  /** The platform's id of the request, if the response was cut off after its headers. */
  requestId: string | null = null

  constructor(message: string, timedOut: boolean, options: FailureOptions = {}) {
    super(withoutCursors(message), options)
    this.timedOut = timedOut
  }
}

/** The body exceeded the size limit of its request. A smaller date range may fit. */
export class BodyTooLargeError extends AppError {
  constructor(url: string, limit: number) {
    super(withoutCursors(`${url}: the body is larger than ${limit} bytes`))
  }
}

/** A 2xx response whose body differs from the specification. */
export class BodyError extends AppError {
  /** The platform's id of the request; null if the response stated none. */
  readonly requestId: string | null

  constructor(message: string, requestId: string | null, options: FailureOptions = {}) {
    const request = requestId === null ? '' : ` (request ${requestId})`
    super(withoutCursors(message) + request, options)
    this.requestId = requestId
  }
}

/**
 * A complete response that contradicts the request or earlier responses: a repeated cursor, a
 * row of another day. Another request will not fix it.
 */
export class ContradictionError extends BodyError {}

/** A call that changes something was sent, and no response says whether it did. `cause` is why. */
export class UnknownOutcomeError extends AppError {}

/**
 * A response with an error status. The message says what the Problem body says, without cursors,
 * e-mail addresses and secrets.
 */
export class ApiError extends AppError {
  /** The HTTP status. */
  readonly status: number
  /** The platform's text, which may name people. */
  readonly problem: Problem

  constructor(message: string, status: number, problem: Problem, options: FailureOptions = {}) {
    super(withoutCursors(message), options)
    this.status = status
    this.problem = problem
  }
}

/**
 * 401 or 403. After a 401, no other request with this credential will succeed; after a 403, those for
 * other resources may.
 */
export class RefusedError extends CredentialError {
  /** The HTTP status, 401 or 403. */
  readonly status: number
  /** The platform's text, which may name people. */
  readonly problem: Problem

  constructor(message: string, status: number, problem: Problem, options: FailureOptions = {}) {
    super(withoutCursors(message), options)
    this.status = status
    this.problem = problem
  }
}

/** The error for a wait that lasts beyond the deadline. */
export function deferral(message: string, cause?: unknown): DeferredError {
  return new DeferredError(message, { hint: 'Try again later.', cause })
}

/** The error after the deadline of the run, command or client. */
export function outOfTime(cause?: unknown): DeferredError {
  return deferral('the time limit was reached', cause)
}

/** The platform's id of the request that failed, or that caused the failure, if the response stated one. */
export function requestIdOf(error: unknown): string | null {
  if (error instanceof ApiError || error instanceof RefusedError) return error.problem.requestId
  if (error instanceof BodyError || error instanceof TransportError) return error.requestId
  return error instanceof AppError ? requestIdOf(error.cause) : null
}

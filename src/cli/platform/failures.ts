import { ApiError, RefusedError, UnknownOutcomeError } from '../../client/index.ts'
import { AppError, DeferredError, ExitCode, messageOf } from '../../lib/errors.ts'

/** The next step after an answer with an error status. */
export type Advice = Readonly<Record<number, string>>

/** Statuses that say that what was asked for is wrong, or cannot be done as things are. */
const WRONG: ReadonlySet<number> = new Set([400, 404, 409, 422])

/** A failure as a person is told it: the platform's words without secrets, and what to do next. */
export class ToldError extends AppError {
  override readonly exitCode: ExitCode

  constructor(message: string, exitCode: ExitCode, hint: string | undefined) {
    super(message, hint === undefined ? {} : { hint })
    this.exitCode = exitCode
  }
}

/** Time ran out before what was waited for came about. */
export class NotYetError extends AppError {
  override readonly exitCode = ExitCode.deferred
}

/** Work of several requests, ended by the failure of one of them. */
export class HalfDoneError extends AppError {
  /** The failure. */
  readonly failure: unknown

  constructor(done: string, hint: string, failure: unknown) {
    super(done, { hint })
    this.failure = failure
  }
}

/** What to report of an error, without the credential; an unexpected one stays as it is. */
export function explained(
  error: unknown,
  advice: Advice,
  redact: (text: string) => string,
): unknown {
  if (error instanceof HalfDoneError) {
    const failure = explained(error.failure, advice, redact)
    const exitCode = failure instanceof AppError ? failure.exitCode : ExitCode.unexpected
    return new ToldError(`${messageOf(failure)}; ${error.message}`, exitCode, error.hint)
  }
  if (error instanceof ApiError || error instanceof RefusedError) {
    const exitCode = WRONG.has(error.status) ? ExitCode.usage : error.exitCode
    return new ToldError(redact(error.message), exitCode, advice[error.status] ?? error.hint)
  }
  if (error instanceof DeferredError) {
    return new ToldError(redact(error.message), error.exitCode, 'Ask again later.')
  }
  if (error instanceof UnknownOutcomeError) {
    return new ToldError(redact(error.message), error.exitCode, error.hint)
  }
  return error
}

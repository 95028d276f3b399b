/** The documented exit codes of the command (README, "Exit codes"). */
export const ExitCode = {
  complete: 0,
  unexpected: 1,
  usage: 2,
  partial: 3,
  deferred: 4,
  credential: 5,
  checksFailed: 6,
  locked: 7,
} as const

export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode]

export interface FailureOptions {
  /** The next step for the person who reads the error, one sentence. */
  readonly hint?: string | undefined
  readonly cause?: unknown
}

/**
 * An expected failure. The message says what, where and the offending value in
 * one line; `hint` says what to do next. Only `src/cli` prints it and exits.
 */
export class AppError extends Error {
  /** With which the command exits after this error. */
  readonly exitCode: ExitCode = ExitCode.unexpected
  /** What to do next, one sentence. May be completed by a caller that knows more. */
  hint: string | undefined

  constructor(message: string, options: FailureOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = new.target.name
    this.hint = options.hint
  }
}

/** Bad arguments, configuration, or a data folder that cannot be used. */
export class UsageError extends AppError {
  override readonly exitCode = ExitCode.usage
}

/** The credential or its role was refused (401, 403). */
export class CredentialError extends AppError {
  override readonly exitCode = ExitCode.credential
}

/** A rate limit or the run's deadline stopped the work; the next run resumes it. */
export class DeferredError extends AppError {
  override readonly exitCode = ExitCode.deferred
}

/** Checks of severity error failed and nothing was published, or the warehouse differs from the platform. */
export class ChecksFailedError extends AppError {
  override readonly exitCode = ExitCode.checksFailed
}

/** Another run holds the lock of the data folder. */
export class LockedError extends AppError {
  override readonly exitCode = ExitCode.locked
}

/** Some intervals could not be fetched. */
export class PartialError extends AppError {
  override readonly exitCode = ExitCode.partial
}

/** An expected error that ends a run before its plan is done. */
export type Stop = CredentialError | DeferredError

export function isStop(error: unknown): error is Stop {
  return error instanceof CredentialError || error instanceof DeferredError
}

/** One line for any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}

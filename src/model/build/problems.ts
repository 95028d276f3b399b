import { AppError, type ExitCode } from '../../lib/errors.ts'
import { StatementError } from '../project/errors.ts'

/** Several things went wrong in one build; the first gives the exit code. */
export class ManyFailedError extends AppError {
  override readonly exitCode: ExitCode
  readonly errors: readonly AppError[]

  constructor(first: AppError, others: readonly AppError[]) {
    const errors = [first, ...others]
    const listed = errors.slice(0, LISTED).map(({ message }) => message.split('\n')[0] ?? '')
    const more = errors.length > LISTED ? `; and ${String(errors.length - LISTED)} more` : ''
    super(`${String(errors.length)} problems: ${listed.join('; ')}${more}`, {
      hint: errors
        .map(({ message, hint }) => (hint === undefined ? message : `${message}\n${hint}`))
        .join('\n'),
    })
    this.errors = errors
    this.exitCode = first.exitCode
  }
}

const LISTED = 3

/** @throws the error where there is one, and one error of all where there are more. */
export function throwAll([first, ...others]: readonly AppError[]): void {
  if (first === undefined) return
  throw others.length === 0 ? first : new ManyFailedError(first, others)
}

/** Whether the base file may be the cause: not where the project, or a check, is. */
export function mayBeDamaged(error: unknown): boolean {
  if (error instanceof ManyFailedError) return error.errors.some(mayBeDamaged)
  return !(error instanceof AppError) || error instanceof StatementError
}

import { suggestion } from '../../lib/text.ts'
import { AppError, messageOf, UsageError, type ExitCode } from '../../lib/errors.ts'

/** A file of the project and, where it is known, the line (from 1). */
export interface Place {
  readonly file: string
  readonly line?: number
}

/** `models/marts/fct_org_day.sql:12` */
export function placeText(place: Place): string {
  return place.line === undefined ? place.file : `${place.file}:${String(place.line)}`
}

/** Something in the project's files is wrong: a template, a yml, a reference. */
export class ProjectError extends UsageError {
  readonly place: Place

  constructor(place: Place, problem: string, options: { hint?: string; cause?: unknown } = {}) {
    super(`${placeText(place)}: ${problem}`, options)
    this.place = place
  }
}

/** DuckDB refused the SQL of a model or a check. */
export class StatementError extends AppError {
  /** `where` is the file and what in it was refused. */
  static of(where: string, error: unknown): StatementError {
    return new StatementError(`${where}: ${messageOf(error)}`, { cause: error })
  }
}

/** The error for a name that is not there, saying which one was meant. */
export function unknownName(
  place: Place,
  what: string,
  name: string,
  known: Iterable<string>,
): ProjectError {
  return new ProjectError(place, `unknown ${what} '${name}'`, { hint: suggestion(name, known) })
}

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

import { suggestion } from '../../lib/text.ts'
import { AppError, messageOf, UsageError, type ExitCode } from '../../lib/errors.ts'

const NOT_PUBLISHED = 'Nothing was published; if there is an earlier warehouse, it stays in place.'

export interface Place {
  readonly file: string
  readonly line?: number
}

/** `models/marts/fct_org_day.sql:12` */
export function placeText(place: Place): string {
  return place.line === undefined ? place.file : `${place.file}:${String(place.line)}`
}

/** An error in the project's files: a template, a yml, a reference. */
export class ProjectError extends UsageError {
  constructor(place: Place, problem: string, options: { hint?: string; cause?: unknown } = {}) {
    super(`${placeText(place)}: ${problem}`, options)
  }
}

/** DuckDB refused the SQL of a model or a check. */
export class StatementError extends AppError {}

/** @throws StatementError that begins with `where`, for an error of DuckDB; an AppError unchanged. */
export async function labelErrors<T>(where: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new StatementError(`${where}: ${messageOf(error)}`, { cause: error })
  }
}

/** The error for an unknown name; the hint suggests a known one. */
export function unknownName(
  place: Place,
  what: string,
  name: string,
  known: Iterable<string>,
): ProjectError {
  return new ProjectError(place, `unknown ${what} '${name}'`, { hint: suggestion(name, known) })
}

/** The value of a name. @throws ProjectError, as `unknownName` makes it, for an unknown name. */
export function known<T>(
  place: Place,
  what: string,
  name: string,
  values: ReadonlyMap<string, T>,
): T {
  const value = values.get(name)
  if (value === undefined) throw unknownName(place, what, name, values.keys())
  return value
}

/** @throws ProjectError, as `unknownName` makes it, for a name that is not among the known ones. */
export function requireKnown(
  place: Place,
  what: string,
  name: string,
  known: readonly string[],
): void {
  if (!known.includes(name)) throw unknownName(place, what, name, known)
}

/** Several errors of one build; the first decides the exit code. */
class ManyFailedError extends AppError {
  override readonly exitCode: ExitCode

  constructor(first: AppError, others: readonly AppError[]) {
    const errors = [first, ...others]
    const listed = errors.slice(0, LISTED).map(({ message }) => message.split('\n')[0] ?? '')
    const more = errors.length > LISTED ? `; and ${String(errors.length - LISTED)} more` : ''
    super(`${String(errors.length)} problems: ${listed.join('; ')}${more}`, {
      hint: errors
        .map(({ message, hint }) => (hint === undefined ? message : `${message}\n${hint}`))
        .join('\n'),
    })
    this.exitCode = first.exitCode
  }
}

const LISTED = 3

/**
 * Throws the errors of a build that published nothing, if there are any. Their hint begins with
 * that and, for a failed file that was kept, where it is; `canRetry`: whether `--retry` accepts it.
 *
 * @throws the only error, or a ManyFailedError for several.
 */
export function throwIfAny(
  [first, ...others]: readonly AppError[],
  failedFile?: string,
  canRetry = false,
): void {
  if (first === undefined) return
  const error = others.length === 0 ? first : new ManyFailedError(first, others)
  const where = failedFile === undefined ? '' : ` The failed file is ${failedFile}.`
  const next = ' After fixing the cause, agent-warehouse build --retry continues from it.'
  const outcome = `${NOT_PUBLISHED}${where}${canRetry ? next : ''}`
  error.hint = error.hint === undefined ? outcome : `${outcome}\n${error.hint}`
  throw error
}

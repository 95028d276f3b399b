import { suggestion } from '../../lib/text.ts'
import { AppError, UsageError } from '../../lib/errors.ts'

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
export class StatementError extends AppError {}

/** The error for a name that is not there, saying which one was meant. */
export function unknownName(
  place: Place,
  what: string,
  name: string,
  known: Iterable<string>,
): ProjectError {
  return new ProjectError(place, `unknown ${what} '${name}'`, { hint: suggestion(name, known) })
}

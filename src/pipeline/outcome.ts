import { TransportError } from '../client/index.ts'
import { AppError, CredentialError, DeferredError, ExitCode, PartialError } from '../lib/errors.ts'
import type { EventOf } from '../lib/events.ts'
import { grouped } from '../lib/grouped.ts'
import { counted, errorPattern, quotedNames } from '../lib/text.ts'
import type { SyncResult } from '../extract/organisation.ts'
import { downgradeToPartial, type StageResult } from './run-context.ts'

export interface OrganisationResult extends SyncResult {
  /** Its name in the configuration. */
  readonly name: string
}

/** The outcome of landing, with one problem for each organisation that did not finish. */
export interface SyncOutcome extends StageResult {
  readonly results: readonly OrganisationResult[]
  /**
   * Whether a day landed or a platform answered, even if it refused the key: then the build also
   * shows which days are missing. False after a run that could reach nothing.
   */
  readonly hasNews: boolean
}

/**
 * The outcome of a run over these organisations; if there are several, also what failed of each. The
 * most severe come first, and decide the exit code: a refused key before a deferral before failed
 * days. Organisations that were stopped in the same way are one problem.
 */
export function outcomeOf(
  results: readonly OrganisationResult[],
): SyncOutcome & { readonly failures: readonly EventOf<'organisation.failed'>[] } {
  const isAlone = results.length === 1
  const stopped = results.flatMap((result) => {
    const problem = problemOf(result, isAlone)
    return problem === undefined ? [] : [{ name: result.name, problem }]
  })
  const alike = grouped(stopped, ({ problem }) => errorPattern(problem.message)).values()
  const problems = [...alike]
    .map((group) => (isAlone ? group[0].problem : new ErrorOfSome(group)))
    .toSorted((a, b) => weightOf(a) - weightOf(b))
  const hasNews = results.some((result) => {
    const problem = problemOf(result)
    return result.landed > 0 || problem === undefined || problem instanceof CredentialError
  })
  const missing = results.reduce((sum, result) => sum + result.missing, 0)
  const isShort = problems.length > 0 || results.some(({ failed }) => failed > 0)
  const worst = problems.find(({ exitCode }) => BY_WEIGHT.includes(exitCode))
  const outcome = downgradeToPartial(missing, {
    results,
    hasNews,
    exitCode: worst?.exitCode ?? (isShort ? ExitCode.partial : ExitCode.complete),
    problems: firstOf(problems),
  })
  const failures = isAlone ? [] : results.flatMap(failureOf)
  return { ...outcome, failures: failures.toSorted((a, b) => weightOf(a) - weightOf(b)) }
}

const BY_WEIGHT: readonly number[] = [ExitCode.credential, ExitCode.usage, ExitCode.deferred]

function weightOf({ exitCode }: { readonly exitCode: number }): number {
  const weight = BY_WEIGHT.indexOf(exitCode)
  return weight < 0 ? BY_WEIGHT.length : weight
}

const KEPT = 'What has landed is kept; the next run continues from there.'

/** Why an organisation did not finish; for failed days, the record of each day says why. */
function problemOf(result: OrganisationResult, isAlone = false): AppError | undefined {
  const { stoppedBy, unreachable } = result
  if (stoppedBy instanceof DeferredError)
    return new DeferredError(stoppedBy.message, { hint: KEPT, cause: stoppedBy })
  if (stoppedBy !== null) return stoppedBy
  return unreachable === null ? undefined : unreachableError(unreachable, isAlone)
}

const NAMED = 10

function firstOf(problems: readonly AppError[]): readonly AppError[] {
  const more = problems.length - NAMED
  if (more <= 0) return problems
  const rest = new PartialError(`and ${counted(more, 'more problem')} of other organisations`)
  return [...problems.slice(0, NAMED), rest]
}

interface Stopped {
  readonly name: string
  readonly problem: AppError
}

/** The problem of organisations that were stopped in the same way, in the words of the first. */
class ErrorOfSome extends AppError {
  override readonly exitCode: ExitCode

  constructor(stopped: readonly [Stopped, ...Stopped[]]) {
    const [{ problem: cause }] = stopped
    const { message, hint } = cause
    const names = quotedNames(stopped.map(({ name }) => name))
    super(`${names}: ${message}`, hint === undefined ? { cause } : { hint, cause })
    this.exitCode = cause.exitCode
  }
}

function failureOf(result: OrganisationResult): EventOf<'organisation.failed'>[] {
  const { name, orgId, failed } = result
  const problem = problemOf(result)
  if (problem === undefined && failed === 0) return []
  const error = problem?.message ?? `${counted(failed, 'interval')} failed`
  const exitCode = problem?.exitCode ?? ExitCode.partial
  return [{ type: 'organisation.failed', name, orgId, error, exitCode }]
}

function unreachableError(error: Error, isAlone: boolean): PartialError {
  const what = error instanceof TransportError ? 'could not be reached' : 'answered unexpectedly'
  const published = isAlone ? 'Nothing new was published; the' : 'The'
  return new PartialError(`the platform ${what}: ${error.message}`, {
    hint: `${published} next run tries again.`,
    cause: error,
  })
}

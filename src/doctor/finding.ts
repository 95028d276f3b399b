import { explainedFault } from '../lib/disk.ts'
import { AppError, ExitCode, messageOf } from '../lib/errors.ts'

export interface Finding {
  /** The subject, in a word or two. */
  readonly check: string
  readonly state: 'ok' | 'warning' | 'wrong'
  readonly message: string
  /** How to fix it; null if there is nothing to fix. */
  readonly hint: string | null
  readonly exitCode: ExitCode
}

export function ok(check: string, message: string): Finding {
  return { check, state: 'ok', message, hint: null, exitCode: ExitCode.complete }
}

export function warning(check: string, message: string, hint: string | null = null): Finding {
  return { check, state: 'warning', message, hint, exitCode: ExitCode.complete }
}

export function wrong(
  check: string,
  exitCode: ExitCode,
  message: string,
  hint: string | null = null,
): Finding {
  return { check, state: 'wrong', message, hint, exitCode }
}

export function failure(check: string, thrown: unknown, otherwise: ExitCode): Finding {
  const error = explainedFault(thrown)
  if (!(error instanceof AppError)) return wrong(check, otherwise, messageOf(error))
  const { exitCode, message, hint = null } = error
  return wrong(check, exitCode === ExitCode.unexpected ? otherwise : exitCode, message, hint)
}

/** The exit code of the worst finding: one that prevents a run comes first. */
export function exitCodeOf(findings: readonly Finding[]): ExitCode {
  const order = [ExitCode.usage, ExitCode.credential, ExitCode.partial]
  const worst = order.find((code) => findings.some(({ exitCode }) => exitCode === code))
  return worst ?? ExitCode.complete
}

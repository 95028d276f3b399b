import { ExitCode } from '../../lib/errors.ts'
import { textOr, type Flags } from '../command.ts'
import { durationOf } from '../options.ts'
import { ReportedError, type Platform } from './platform.ts'

const LAST_CHECK_MS = 60_000

export function pollOptions(timeout: string) {
  return {
    timeout: textOr(timeout, 'how long to wait, such as 90s, 20m or 5h; then exit with 4'),
    interval: textOr('5s', 'how often to check'),
  }
}

type PollFlags = Flags<ReturnType<typeof pollOptions>>

/** How long the command may take, with the last check. @throws UsageError for a wrong duration. */
export function patienceOf({ timeout, interval }: PollFlags): number {
  durationOf(interval, '--interval')
  return durationOf(timeout, '--timeout') + LAST_CHECK_MS
}

export interface Check<T> {
  readonly state: string
  readonly outcome?: T
}

/**
 * Checks until there is an outcome, and reports every change of the state.
 *
 * @throws ReportedError when the time is over, with the state it was in.
 */
export async function poll<T>(
  { world, report }: Platform,
  flags: PollFlags,
  check: () => Promise<Check<T>>,
): Promise<T> {
  const endsAt = world.now() + durationOf(flags.timeout, '--timeout')
  const intervalMs = durationOf(flags.interval, '--interval')
  let reported: string | undefined
  for (;;) {
    const { state, outcome } = await check()
    if (state !== reported) report(state)
    reported = state
    if (outcome !== undefined) return outcome
    const left = endsAt - world.now()
    if (left <= 0) {
      const hint = 'Check again, or wait longer with --timeout.'
      throw new ReportedError(`timed out: ${state}`, ExitCode.deferred, hint)
    }
    await world.sleep(Math.min(intervalMs, left), world.signal)
  }
}

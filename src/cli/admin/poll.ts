import { textOr, type Flags } from '../command.ts'
import { durationOf } from '../options.ts'
import { NotYetError, type Platform } from './platform.ts'

const LAST_LOOK_MS = 60_000

/** How long, and how often to look. */
export interface Polling {
  readonly intervalMs: number
  readonly timeoutMs: number
  /** For the last look itself. */
  readonly patienceMs: number
}

/** Options of commands that wait for something. */
export function pollOptions(timeout: string) {
  return {
    timeout: textOr(timeout, 'how long to wait: 90s, 20m, 5h; then it ends with 4'),
    interval: textOr('5s', 'how often to check'),
  }
}

/** @throws UsageError for what is no duration. */
export function pollingOf(flags: Flags<ReturnType<typeof pollOptions>>): Polling {
  const timeoutMs = durationOf(flags.timeout, '--timeout')
  const intervalMs = durationOf(flags.interval, '--interval')
  return { timeoutMs, intervalMs, patienceMs: timeoutMs + LAST_LOOK_MS }
}

/** One look: what there is to say of it, and the outcome once there is one. */
export interface Look<T> {
  readonly state: string
  readonly outcome?: T
}

/**
 * Looks until there is an outcome, and tells of every state that is another one.
 *
 * @throws NotYetError when the time is over, with the state it was in.
 */
export async function poll<T>(
  { world, tell }: Platform,
  { intervalMs, timeoutMs }: Omit<Polling, 'patienceMs'>,
  look: () => Promise<Look<T>>,
): Promise<T> {
  const endsAt = world.now() + timeoutMs
  let told: string | undefined
  for (;;) {
    const { state, outcome } = await look()
    if (state !== told) tell(state)
    told = state
    if (outcome !== undefined) return outcome
    const left = endsAt - world.now()
    if (left <= 0) {
      throw new NotYetError(`the time is over: ${state}`, {
        hint: 'Look again, or wait longer with --timeout.',
      })
    }
    await world.sleep(Math.min(intervalMs, left), world.signal)
  }
}

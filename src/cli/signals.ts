import { setMaxListeners } from 'node:events'
import { DeferredError } from '../lib/errors.ts'

/** The last one comes when a terminal or a connection to it is closed. */
export const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Runs work that only reads the data folder. The first signal stops it with exit code 4, the
 * second ends the process.
 *
 * @throws the error of the work; DeferredError if a signal stopped it.
 */
export async function stoppable<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController()
  setMaxListeners(0, stop.signal) // one listener for each statement
  const onSignal = (name: NodeJS.Signals): void => {
    close()
    stop.abort(
      new DeferredError(`stopped by ${name}`, {
        hint: 'To get the result, run the command again.',
      }),
    )
  }
  const close = (): void => {
    for (const name of SIGNALS) process.off(name, onSignal)
  }
  for (const name of SIGNALS) process.on(name, onSignal)
  return work(stop.signal).finally(close)
}

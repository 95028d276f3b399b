import { asError, CredentialError, DeferredError } from '../../lib/errors.ts'

/** What ends a run before its plan is done, and is expected. */
export type Stop = CredentialError | DeferredError

/** Does the work for every item in order, some at once. The first error that must stop the run ends it. */
export async function forEachLimit<T>(
  items: readonly T[],
  concurrency: number,
  execute: (item: T) => Promise<unknown>,
): Promise<Stop | null> {
  const queue = items.values()
  const stops: Error[] = []
  const work = async (): Promise<void> => {
    for (const item of queue) {
      if (stops.length > 0) return
      try {
        await execute(item)
      } catch (error) {
        stops.push(asError(error))
      }
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  const unexpected = stops.find((stop) => !isExpected(stop))
  if (unexpected !== undefined) throw unexpected
  return stops.find(isExpected) ?? null
}

export function isExpected(stop: unknown): stop is Stop {
  return stop instanceof CredentialError || stop instanceof DeferredError
}

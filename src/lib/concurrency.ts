import { asError, isStop } from './errors.ts'

/** Returns the results of all promises. If one fails, throws its error after all have ended. */
export async function allOrThrow<T>(promises: Iterable<Promise<T>>): Promise<T[]> {
  const all = [...promises]
  await Promise.allSettled(all)
  return Promise.all(all)
}

/**
 * Runs `work` for each item, at most `atOnce` at the same time, and returns the results in order.
 * After an error no item begins; when the running ones have ended, an error is thrown.
 *
 * @throws the first error that is no Stop, else the first one.
 */
export async function mapLimit<T, R>(
  items: Iterable<T>,
  atOnce: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const all = [...items]
  const queue = all.entries()
  const results: R[] = []
  const errors: Error[] = []
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) {
      if (errors.length > 0) return
      try {
        results[index] = await work(item)
      } catch (error) {
        errors.push(asError(error))
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, all.length) }, worker))
  const error = errors.find((each) => !isStop(each)) ?? errors[0]
  if (error !== undefined) throw error
  return results
}

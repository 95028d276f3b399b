/** Returns the results of all promises. If one fails, throws its error after all have ended. */
export async function allOrThrow<T>(promises: Iterable<Promise<T>>): Promise<T[]> {
  const all = [...promises]
  await Promise.allSettled(all)
  return Promise.all(all)
}

/**
 * Runs `work` for each item, at most `atOnce` at the same time, and returns the results in order.
 * After an error no item begins; the error is thrown when the running ones have ended.
 */
export async function mapLimit<T, R>(
  items: Iterable<T>,
  atOnce: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const all = [...items]
  const queue = all.entries()
  const results: R[] = []
  let hasFailed = false
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) {
      if (hasFailed) return
      try {
        results[index] = await work(item)
      } catch (error) {
        hasFailed = true
        throw error
      }
    }
  }
  await allOrThrow(Array.from({ length: Math.min(atOnce, all.length) }, worker))
  return results
}

/** Waits for all and returns their results. If one fails, its error is thrown after all have ended. */
export async function allOrThrow<T>(promises: Iterable<Promise<T>>): Promise<T[]> {
  const all = [...promises]
  await Promise.allSettled(all)
  return Promise.all(all)
}

/**
 * The results of `work` for each item, in order, with at most `atOnce` at the same time: the next
 * item begins when any one has ended. After an error no more begin, and it is thrown when those
 * under way have ended.
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

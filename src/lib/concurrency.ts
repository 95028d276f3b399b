/** Waits for all and returns their results. If one fails, its error is thrown after all have ended. */
export async function allOrThrow<T>(promises: Iterable<Promise<T>>): Promise<T[]> {
  const all = [...promises]
  await Promise.allSettled(all)
  return Promise.all(all)
}

/** The results of `work` for each item, in order, with at most `atOnce` at the same time. */
export async function mapLimit<T, R>(
  items: Iterable<T>,
  atOnce: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const all = [...items]
  const results: R[] = []
  for (let start = 0; start < all.length; start += atOnce) {
    results.push(...(await allOrThrow(all.slice(start, start + atOnce).map(work))))
  }
  return results
}

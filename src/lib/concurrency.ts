/** What all come to. Where one fails, its error is thrown when the others have ended too. */
export async function allOrThrow<T>(promises: Iterable<Promise<T>>): Promise<T[]> {
  const all = [...promises]
  await Promise.allSettled(all)
  return Promise.all(all)
}

/** What the work comes to for each item, in their order, so many at once. */
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

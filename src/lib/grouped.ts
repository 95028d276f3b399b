/** Groups items by key; items and keys keep their order, and no group is empty. */
export function grouped<T, Key>(items: Iterable<T>, keyOf: (item: T) => Key) {
  const groups = new Map<Key, [T, ...T[]]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}

/** Packs consecutive items into groups of at most `most` bytes; a larger item is a group of its own. */
export function packed<T extends { readonly bytes: number }>(
  items: readonly T[],
  most: number,
): T[][] {
  const packs: T[][] = []
  let bytes = 0
  for (const item of items) {
    const pack = packs.at(-1)
    bytes += item.bytes
    if (pack !== undefined && bytes <= most) pack.push(item)
    else {
      packs.push([item])
      bytes = item.bytes
    }
  }
  return packs
}

/** Consecutive items in groups of at most `most`. */
export function inChunks<T>(items: readonly T[], most: number): T[][] {
  const chunks: T[][] = []
  for (let start = 0; start < items.length; start += most)
    chunks.push(items.slice(start, start + most))
  return chunks
}

/** The candidate that `name` most likely meant, or undefined when none is near. */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined
  let fewest = Math.max(2, Math.floor(name.length / 3)) + 1
  for (const candidate of candidates) {
    const count = edits(name.toLowerCase(), candidate.toLowerCase())
    if (count < fewest) {
      best = candidate
      fewest = count
    }
  }
  return best
}

/** A next step for an unknown name: the nearest one, else `otherwise`, by default all there are. */
export function suggestion(name: string, candidates: Iterable<string>, otherwise?: string): string {
  const known = [...candidates].sort()
  const near = nearest(name, known)
  if (near !== undefined) return `Did you mean '${near}'?`
  if (otherwise !== undefined) return otherwise
  if (known.length === 0) return 'None is defined.'
  const more = known.length > LISTED ? ` and ${known.length - LISTED} more` : ''
  return `Known: ${known.slice(0, LISTED).join(', ')}${more}.`
}

/** More names than these are no help. */
const LISTED = 20

/** Levenshtein's distance: insertions, deletions and replacements from `a` to `b`. */
function edits(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [i, charA] of Array.from(a).entries()) {
    const next = [i + 1]
    for (const [j, charB] of Array.from(b).entries()) {
      const replaced = (row[j] ?? 0) + (charA === charB ? 0 : 1)
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}

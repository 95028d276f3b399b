/** Lines around a change that are shown with it. */
const CONTEXT = 2

interface Line {
  readonly sign: ' ' | '-' | '+'
  readonly text: string
}

/** What changes between two texts, line by line: `-` goes, `+` comes; empty where nothing does. */
export function diffLines(before: string, after: string): string[] {
  if (before === after) return []
  const lines = compare(before.split('\n'), after.split('\n'))
  const isShown = (index: number): boolean =>
    lines.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(({ sign }) => sign !== ' ')
  return lines.flatMap(({ sign, text }, index) => {
    if (!isShown(index)) return []
    const gap = index > 0 && !isShown(index - 1) ? ['  …'] : []
    return [...gap, `${sign} ${text}`.trimEnd()]
  })
}

/** By the longest common subsequence of what is not the same at both ends. */
function compare(before: readonly string[], after: readonly string[]): Line[] {
  const shorter = Math.min(before.length, after.length)
  let head = 0
  while (head < shorter && before[head] === after[head]) head += 1
  let tail = 0
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1
  const same = (text: string): Line => ({ sign: ' ', text })
  return [
    ...before.slice(0, head).map(same),
    ...middle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...before.slice(before.length - tail).map(same),
  ]
}

function middle(before: readonly string[], after: readonly string[]): Line[] {
  const common = lengths(before, after)
  const lines: Line[] = []
  let [i, j] = [0, 0]
  while (i < before.length || j < after.length) {
    const [left, right] = [before[i], after[j]]
    const goes = common[i + 1]?.[j] ?? -1
    const comes = common[i]?.[j + 1] ?? -1
    if (left !== undefined && left === right) {
      lines.push({ sign: ' ', text: left })
      i += 1
      j += 1
    } else if (left !== undefined && (right === undefined || goes >= comes)) {
      lines.push({ sign: '-', text: left })
      i += 1
    } else {
      lines.push({ sign: '+', text: right ?? '' })
      j += 1
    }
  }
  return lines
}

/** How many lines the rests from `i` and `j` on have in common. */
function lengths(before: readonly string[], after: readonly string[]): number[][] {
  const table = before.concat('').map(() => after.concat('').map(() => 0))
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      const row = table[i]
      if (row === undefined) continue
      row[j] =
        before[i] === after[j]
          ? 1 + (table[i + 1]?.[j + 1] ?? 0)
          : Math.max(table[i + 1]?.[j] ?? 0, row[j + 1] ?? 0)
    }
  }
  return table
}

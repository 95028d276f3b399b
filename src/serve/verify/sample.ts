import type { Day } from '../../lib/days.ts'

/**
 * Some of the days, in order: the last one always, the others by chance, every
 * choice as likely as any other. `random` gives numbers in [0, 1).
 */
export function sampleDays(days: readonly Day[], count: number, random: () => number): Day[] {
  const last = days.at(-1)
  if (last === undefined || count < 1) return []
  const others = days.slice(0, -1)
  const chosen = [last]
  while (chosen.length < count && others.length > 0) {
    chosen.push(...others.splice(Math.floor(random() * others.length), 1))
  }
  return chosen.sort()
}

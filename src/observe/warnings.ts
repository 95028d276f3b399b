import type { WarningSubject } from '../lib/events.ts'

/** A warning of a run, as it is kept. */
export interface Warning {
  readonly message: string
  /** Null where nothing is said of it. */
  readonly about: WarningSubject | null
  /** Warnings of one kind say the same of different things. */
  readonly kind: string
}

/** What warnings are about, the most severe first. */
const BY_SEVERITY: readonly (WarningSubject | null)[] = [
  'lease',
  'damage',
  'numbers',
  null,
  'drift',
]

/**
 * The kind of a warning that names none: its words without what is quoted and
 * without names, numbers, dates and paths.
 */
export function kindOf(message: string): string {
  return message
    .replaceAll(/'[^']*'|"[^"]*"/g, '')
    .split(/\s+/)
    .filter((word) => /^[a-z]+[,;:]?$/i.test(word))
    .join(' ')
}

/**
 * Some of the warnings, the most severe first: one of each kind, up to `most`, and
 * more of them where fewer than `usual` are chosen so.
 */
export function chooseWarnings(
  warnings: readonly Warning[],
  usual: number,
  most: number,
): readonly Warning[] {
  const kinds = new Map<string, Warning[]>()
  for (const warning of warnings) {
    const key = `${String(warning.about)} ${warning.kind}`
    kinds.set(key, [...(kinds.get(key) ?? []), warning])
  }
  const severity = ([first]: readonly Warning[]): number =>
    BY_SEVERITY.indexOf(first?.about ?? null)
  const groups = [...kinds.values()].sort((a, b) => severity(a) - severity(b))
  const ones = groups.flatMap((group) => group.slice(0, 1)).slice(0, most)
  const others = groups.flatMap((group) => group.slice(1))
  const chosen = new Set([...ones, ...others.slice(0, Math.max(0, usual - ones.length))])
  return groups.flat().filter((warning) => chosen.has(warning))
}

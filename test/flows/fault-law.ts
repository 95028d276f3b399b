import { LedgerFile, type Ledger } from '../../src/lake/ledger.ts'
import { daysOf } from './likeness.ts'

/** What a data folder holds, and what it says that it holds. */
export interface Lake {
  readonly days: Readonly<Record<string, string>>
  readonly intervals: Ledger
}

export async function lakeOf(dataFolder: string): Promise<Lake> {
  const intervals = await LedgerFile.read(dataFolder, 'org_demo')
  return { days: await daysOf(dataFolder), intervals }
}

/** A night as it ended. */
export interface Ended {
  readonly lake: Lake
  readonly exitCode: number
  /** When it began, milliseconds since the epoch. */
  readonly began: number
}

/** A refused credential or a deferral: what was due and not reached is still due. */
const STOPPED: readonly number[] = [4, 5]

/** The days that the ledger says could not be had, or looked at again, by `resource/day`. */
export function toldOf(truth: Lake, { lake, exitCode, began }: Ended): string[] {
  return [...truth.intervals.keys()].filter((key) => {
    const interval = lake.intervals.get(key)
    if (interval === undefined || interval.error !== null) return true
    return STOPPED.includes(exitCode) && (interval.fetchedAt ?? 0) < began
  })
}

/**
 * Where a night breaks the law: its data are those of a night without faults,
 * or it says exactly which days are not, and its exit code says that there are
 * such.
 */
export function breaches(truth: Lake, night: Ended): string[] {
  const { lake, exitCode } = night
  const told = new Set(toldOf(truth, night))
  const silent = [...truth.intervals.keys()].filter(
    (key) => !told.has(key) && truth.days[key] !== lake.days[key],
  )
  const wrong = [...told].filter(
    (key) => (lake.intervals.get(key)?.file ?? null) === null && lake.days[key] !== undefined,
  )
  const made = Object.keys(lake.days).filter((key) => !truth.intervals.has(key))
  const isShort = [3, ...STOPPED].includes(exitCode)
  return [
    ...silent.map(
      (key) => `${key} differs, and is said to be ${lake.intervals.get(key)?.status ?? ''}`,
    ),
    ...wrong.map((key) => `${key} is there, and is said to be missing`),
    ...made.map((key) => `${key} is not of the platform`),
    ...(isShort === told.size > 0
      ? []
      : [`exit code ${exitCode}, and ${told.size} days are told of`]),
  ]
}

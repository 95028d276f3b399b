import { LedgerFile, type Ledger } from '../../src/lake/ledger.ts'
import { daysOf } from './contents.ts'

/** The days in a data folder, and its ledger. */
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

/** A deferral or a refused credential: the days that were due and not reached are still due. */
const STOPPED: readonly number[] = [4, 5]

/** The days of which the ledger reports that a fetch or recheck failed, by `resource/day`. */
export function reportedOf(truth: Lake, { lake, exitCode, began }: Ended): string[] {
  return [...truth.intervals.keys()].filter((key) => {
    const interval = lake.intervals.get(key)
    if (interval === undefined || interval.error !== null) return true
    return STOPPED.includes(exitCode) && (interval.fetchedAt ?? 0) < began
  })
}

/**
 * Where a night breaks the law: its data are those of a night without faults, or the ledger
 * lists exactly the days that are not, and the exit code says that there are some.
 */
export function breaches(truth: Lake, night: Ended): string[] {
  const { lake, exitCode } = night
  const reported = new Set(reportedOf(truth, night))
  const silent = [...truth.intervals.keys()].filter(
    (key) => !reported.has(key) && truth.days[key] !== lake.days[key],
  )
  const wrong = [...reported].filter(
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
    ...(isShort === reported.size > 0
      ? []
      : [`exit code ${exitCode}, and ${reported.size} days are reported`]),
  ]
}

import type { Day } from '../../src/lib/days.ts'
import { intervalKey } from '../../src/lake/ledger.ts'
import type { History } from './histories.ts'
import { daysBefore, lakeOf, syncNight, type Night } from './nights.ts'
import { contentAt, nightOf, rowsOf, type Model } from './platform.ts'

/** A failure is told, with its seed, before the test's own time is over. */
export const BOUNDED = { interruptAfterTimeLimit: 60_000 }

/** Night after night in one data folder. */
export async function live(dataFolder: string, { only, nights, model }: History): Promise<Night[]> {
  const lived: Night[] = []
  for (const night of nights) lived.push(await syncNight(dataFolder, model, night, only))
  return lived
}

/** What the platform has of the day in the night, its rows in order of text. */
export function truth(model: Model, resource: string, day: Day, night: number): string[] {
  return rowsOf(resource, day, contentAt(model, resource, day, nightOf(night))).sort()
}

/** By `resource/day`, the rows of each version, oldest first. */
export type Versions = Readonly<Record<string, readonly (readonly string[])[]>>

/** The versions that answered looks should have made: of what they found, each change once. */
export function changes(lived: readonly Night[], only: readonly string[], model: Model): Versions {
  return ofEveryDay(lived, only, (resource, day) => {
    const found: string[][] = []
    for (const { night, finished } of lived) {
      if (!finished.includes(intervalKey(resource, day))) continue
      const rows = truth(model, resource, day, night)
      if (JSON.stringify(found.at(-1)) !== JSON.stringify(rows)) found.push(rows)
    }
    return found
  })
}

/** The versions that the lake has. */
export async function versionsOf(
  dataFolder: string,
  { only }: History,
  lived: readonly Night[],
): Promise<Versions> {
  const versions: Record<string, readonly string[][]> = {}
  for (const resource of only) {
    const lake = await lakeOf(dataFolder, resource)
    for (const day of daysOf(lived)) versions[intervalKey(resource, day)] = await lake(day)
  }
  return versions
}

export function ofEveryDay<T>(
  lived: readonly Night[],
  only: readonly string[],
  of: (resource: string, day: Day) => T,
): Record<string, T> {
  return Object.fromEntries(
    only.flatMap((resource) =>
      daysOf(lived).map((day) => [intervalKey(resource, day), of(resource, day)]),
    ),
  )
}

function daysOf(lived: readonly Night[]): Day[] {
  return daysBefore(lived.at(-1)?.night ?? 0)
}

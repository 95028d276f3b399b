import type { Day } from '../../src/lib/days.ts'
import { intervalKey } from '../../src/lake/ledger.ts'
import type { History } from './histories.ts'
import { daysBefore, lakeOf, syncNight, type Night } from './nights.ts'
import { contentAt, nightOf, rowsOf, type Model } from './platform.ts'

/** A failure is reported, with its seed, before the timeout of the test. */
export const BOUNDED = { interruptAfterTimeLimit: 60_000 }

/** Runs the nights of a history in one data folder. */
export async function runNights(
  dataFolder: string,
  { only, nights, model }: History,
): Promise<Night[]> {
  const ended: Night[] = []
  for (const night of nights) ended.push(await syncNight(dataFolder, model, night, only))
  return ended
}

/** The rows that the platform serves of the day in the night, sorted. */
export function truth(model: Model, resource: string, day: Day, night: number): string[] {
  return rowsOf(resource, day, contentAt(model, resource, day, nightOf(night))).sort()
}

/** By `resource/day`, the rows of each version, oldest first. */
export type Versions = Readonly<Record<string, readonly (readonly string[])[]>>

/** The versions to expect of answered requests: one for each change. */
export function changes(nights: readonly Night[], only: readonly string[], model: Model): Versions {
  return ofEveryDay(nights, only, (resource, day) => {
    const found: string[][] = []
    for (const { night, finished } of nights) {
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
  nights: readonly Night[],
): Promise<Versions> {
  const versions: Record<string, readonly string[][]> = {}
  for (const resource of only) {
    const lake = await lakeOf(dataFolder, resource)
    for (const day of daysOf(nights)) versions[intervalKey(resource, day)] = await lake(day)
  }
  return versions
}

function ofEveryDay<T>(
  nights: readonly Night[],
  only: readonly string[],
  of: (resource: string, day: Day) => T,
): Record<string, T> {
  return Object.fromEntries(
    only.flatMap((resource) =>
      daysOf(nights).map((day) => [intervalKey(resource, day), of(resource, day)]),
    ),
  )
}

function daysOf(nights: readonly Night[]): Day[] {
  return daysBefore(nights.at(-1)?.night ?? 0)
}

import { join } from 'node:path'
import { z } from 'zod'
import { isDay, type Day } from '../../lib/days.ts'
import {
  ENTITY_RESOURCES,
  isEntityResource,
  isSnapshot,
  type EntityResource,
} from '../../lib/resource-names.ts'
import { pathSegment, readJson, writeAtomic } from '../../lib/files.ts'
import type { Ledger, LedgerFile } from '../../lake/ledger.ts'
import { damageOf, quarantine } from '../../lake/quarantine.ts'

/**
 * Proves every file that later nights build on, before it is read: what fails
 * goes into quarantine. What a day held is asked for again, but for a snapshot.
 */
export async function quarantineDamagedEntities(
  dataFolder: string,
  orgId: string,
  ledger: LedgerFile,
  warn: (message: string) => void,
): Promise<void> {
  for (const { resource, day, file, sha256 } of [...ledger.intervals.values()]) {
    if (!isEntityResource(resource) || file === null || sha256 === null) continue
    const damage = await damageOf(dataFolder, orgId, { resource, day, file }, sha256)
    if (damage === undefined) continue
    const found = await quarantine(dataFolder, orgId, damage)
    const isGone = isSnapshot(resource) || resource === 'hook_events'
    warn(`${found}; ${isGone ? 'it is no longer served' : 'what it held is requested again'}`)
    await ledger.forget([{ resource, day, file }])
  }
}

const shape = z.record(
  z.string(),
  z.array(z.custom<Day>((day) => typeof day === 'string' && isDay(day))),
)

/**
 * Which days had landed when a resource was last fetched whole, so that a day that is
 * missing since is known to be: `<data>/state/beside/<org>.json`.
 */
export class LandedDays {
  readonly #path: string
  readonly #days: Partial<Record<string, readonly Day[]>>

  private constructor(path: string, days: Partial<Record<string, readonly Day[]>>) {
    this.#path = path
    this.#days = days
  }

  static async open(
    dataFolder: string,
    orgId: string,
    warn: (message: string) => void,
  ): Promise<LandedDays> {
    const path = join(dataFolder, 'state', 'beside', `${pathSegment(orgId)}.json`)
    return new LandedDays(path, shape.safeParse(await readJson(path, warn)).data ?? {})
  }

  /** The days that are missing, in order; undefined where the resource was never fetched whole. */
  missing(resource: EntityResource, ledger: Ledger): readonly Day[] | undefined {
    const landed = new Set(landedDays(resource, ledger))
    return this.#days[resource]?.filter((day) => !landed.has(day)).sort()
  }

  /** Keeps what has landed of the resources that were fetched whole. */
  async fetched(resources: readonly EntityResource[], ledger: Ledger): Promise<void> {
    const days = ENTITY_RESOURCES.flatMap((resource) => {
      const known = this.#days[resource]
      const now = resources.includes(resource) ? landedDays(resource, ledger) : known
      return now === undefined ? [] : [[resource, now] as const]
    })
    await writeAtomic(this.#path, `${JSON.stringify(Object.fromEntries(days))}\n`)
  }
}

function landedDays(resource: EntityResource, ledger: Ledger): Day[] {
  return [...ledger.values()]
    .filter((interval) => interval.resource === resource && interval.file !== null)
    .map(({ day }) => day)
    .sort()
}

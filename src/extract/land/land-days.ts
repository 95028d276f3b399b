import { join } from 'node:path'
import { rawFolder } from '../../lake/layout.ts'
import type { Interval } from '../../lake/ledger.ts'
import { readRows } from '../../lake/raw-items.ts'
import type { FetchContext } from '../context.ts'
import {
  isConfirmed,
  isGuarded,
  isVolumeAnomaly,
  sizeOf,
  type VolumeAnomaly,
} from '../plan/volume-anomaly.ts'
import type { Resource } from '../../lake/resources.ts'
import type { LandedDay, ServedDay } from './raw-writer.ts'

/** A day to land, and how large it is (see `sizeOf`). */
export interface SizedDay extends ServedDay {
  readonly size: number
}

/**
 * Turns what was served into versions of the days. A final day that came back
 * much smaller stays as it is, and what was served waits until it is served a second time.
 *
 * @returns what to record; nothing of a day that stays as it is, which is recorded.
 */
export async function landDays<T extends SizedDay>(
  context: FetchContext,
  resource: Resource,
  served: readonly T[],
): Promise<(T & LandedDay)[]> {
  const { recorder, writer, checks } = context
  const believed: T[] = []
  const confirmed: VolumeAnomaly[] = []
  for (const each of served) {
    const anomaly = await anomalyOf(context, resource, each)
    if (anomaly !== null && !isConfirmed(anomaly, checks)) await recorder.pending(anomaly)
    else {
      believed.push(each)
      if (anomaly !== null) confirmed.push(anomaly)
    }
  }
  const landed = await writer.land(resource.name, believed)
  for (const anomaly of confirmed) recorder.anomalyFound(anomaly, true)
  return landed
}

/** Why what was served has to be confirmed; null when it has not. */
async function anomalyOf(
  context: FetchContext,
  resource: Resource,
  { day, content, size, rowCount = content.count }: SizedDay,
): Promise<VolumeAnomaly | null> {
  const known = context.recorder.interval(resource.name, day)
  if (!isGuarded(known, content.digest)) return null
  const sizeBefore = await landedSize(context, resource, known)
  const served = { digest: content.digest, rowCount, seenAt: content.last.fetchedAt }
  const anomaly = { known, served, sizeBefore, size }
  return isVolumeAnomaly(anomaly) ? anomaly : null
}

/** From the rows in the lake where they say it; a file that cannot be read is counted by its rows. */
async function landedSize(
  { dataFolder, orgId }: FetchContext,
  { name, sizeField }: Resource,
  { day, file, rowCount }: Interval,
): Promise<number> {
  const count = rowCount ?? 0
  if (sizeField === undefined || file === null) return count
  const rows = await readRows(join(rawFolder(dataFolder, orgId, name, day), file))
  const items = rows?.map(({ item }) => item)
  return items === undefined ? count : sizeOf(sizeField, items)
}

import { versionPath } from '../../lake/layout.ts'
import { isSettled, type Interval } from '../../lake/ledger.ts'
import { readRows } from '../../lake/raw-days.ts'
import type { FetchContext } from '../context.ts'
import { isConfirmed, sizeOf, type VolumeAnomaly } from '../plan/volume-anomaly.ts'
import type { Resource } from '../../lake/resources.ts'
import { landVersions, type LandedDay, type ServedDay } from './raw-writer.ts'

/** A day to land, and how large it is (see `sizeOf`). */
export interface SizedDay extends ServedDay {
  readonly size: number
}

/**
 * Lands served days as versions. If a settled day came back much smaller, its version stays, and
 * the new rows wait until they are served a second time.
 *
 * @returns the days to record, without those that wait: these are recorded already.
 */
export async function landDays<T extends SizedDay>(
  context: FetchContext,
  resource: Resource,
  served: readonly T[],
): Promise<(T & LandedDay)[]> {
  const { recorder, confirmation } = context
  const believed: T[] = []
  const confirmed: VolumeAnomaly[] = []
  for (const each of served) {
    const anomaly = await anomalyOf(context, resource, each)
    if (anomaly !== null && !isConfirmed(anomaly, confirmation)) await recorder.pending(anomaly)
    else {
      believed.push(each)
      if (anomaly !== null) confirmed.push(anomaly)
    }
  }
  const landed = await landVersions(context, resource.name, believed)
  for (const anomaly of confirmed) recorder.anomalyFound(anomaly, true)
  return landed
}

/**
 * The volume anomaly that needs confirmation; null if there is none. A changed settled day is one
 * if it became empty or less than half as large.
 */
async function anomalyOf(
  context: FetchContext,
  resource: Resource,
  { day, content, size, rowCount = content.count }: SizedDay,
): Promise<VolumeAnomaly | null> {
  const known = context.recorder.interval(resource.name, day)
  if (known === undefined || !isSettled(known) || known.digest === content.digest) return null
  const sizeBefore = await landedSize(context, resource, known)
  const served = { digest: content.digest, rowCount, seenAt: content.last.fetchedAt }
  const isMuchSmaller = (rowCount === 0 && known.rowCount !== 0) || 2 * size < sizeBefore
  return isMuchSmaller ? { known, served, sizeBefore, size } : null
}

/** The sum of the size field in the lake, else the row count that the ledger has. */
async function landedSize(
  { dataFolder, orgId }: FetchContext,
  { name, sizeField }: Resource,
  { day, file, rowCount }: Interval,
): Promise<number> {
  const count = rowCount ?? 0
  if (sizeField === undefined || file === null) return count
  const rows = await readRows(versionPath(dataFolder, orgId, { resource: name, day, file }))
  const items = rows?.map(({ item }) => item)
  return items === undefined ? count : sizeOf(sizeField, items)
}

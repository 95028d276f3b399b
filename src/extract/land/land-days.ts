import { join } from 'node:path'
import { rawFolder } from '../../lake/layout.ts'
import { readRows } from '../../lake/raw-items.ts'
import type { Day } from '../../lib/days.ts'
import type { Interval } from '../../lake/ledger.ts'
import type { LandedInterval, VolumeAnomaly } from './interval-recorder.ts'
import type { FetchContext } from '../context.ts'
import type { DayContent } from './row-lines.ts'
import type { Resource } from '../resources.ts'
import {
  isConfirmed,
  isGuarded,
  isVolumeAnomaly,
  sizeOf,
  pendingConfirmation,
  type ServedVolume,
} from '../plan/volume-anomaly.ts'

/** What the platform served of one day. */
export interface ServedDay {
  readonly day: Day
  readonly content: DayContent
  /** Rows, or users where a user can be served twice. */
  readonly rowCount: number
  /** See `sizeOf`. */
  readonly size: number
}

/**
 * Turns what was served into versions of the days. A final day that came back
 * much smaller stays as it is, and what was served waits until it is served a second time.
 *
 * @returns what to record; nothing of a day that stays as it is, which is recorded.
 */
export async function landDays(
  context: FetchContext,
  resource: Resource,
  served: readonly ServedDay[],
): Promise<LandedInterval[]> {
  const { recorder, writer, checks } = context
  const believed: { served: ServedDay; anomaly: VolumeAnomaly | null }[] = []
  for (const each of served) {
    const volume = { ...each, digest: each.content.digest, at: each.content.last.fetchedAt }
    const known = recorder.interval(resource.name, each.day)
    const isChecked = isGuarded(known, volume)
    const anomaly = isChecked ? await anomalyOf(context, resource, known, volume, each.size) : null
    if (anomaly === null || isConfirmed(anomaly.known.suspect, volume, checks)) {
      believed.push({ served: each, anomaly })
    } else await recorder.pending(anomaly, pendingConfirmation(anomaly.known, volume))
  }
  const results = await writer.land(
    resource.name,
    believed.map(({ served }) => served),
  )
  return results.flatMap((result, at) => {
    const { served: day, anomaly } = believed[at] ?? {}
    if (day === undefined) return []
    if (anomaly != null) recorder.anomalyFound(anomaly, true)
    return [{ day: day.day, origin: day.content.last, result, rowCount: day.rowCount }]
  })
}

/** Why what was served has to be confirmed; null when it has not. */
async function anomalyOf(
  context: FetchContext,
  resource: Resource,
  known: Interval,
  volume: ServedVolume,
  size: number,
): Promise<VolumeAnomaly | null> {
  const sizeBefore = await landedSize(context, resource, known)
  return isVolumeAnomaly(known, sizeBefore, volume, size) ? { known, sizeBefore, size } : null
}

/** From the rows in the lake where they say it; a file that cannot be read is counted by its rows. */
async function landedSize(
  { dataFolder, orgId }: FetchContext,
  resource: Resource,
  { day, file, rowCount }: Interval,
): Promise<number> {
  const count = rowCount ?? 0
  const { name, sizeField } = resource
  if (sizeField === undefined || file === null) return count
  const rows = await readRows(join(rawFolder(dataFolder, orgId, name, day), file))
  return rows === null
    ? count
    : sizeOf(
        sizeField,
        rows.map(({ item }) => item),
      )
}

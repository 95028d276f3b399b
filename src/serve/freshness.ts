import { z } from 'zod'
import { freshnessOf, type Freshness, type FreshnessLimits } from '../lib/days.ts'
import { statement } from '../lib/package.ts'
import { withWarehouse } from './warehouse.ts'

/** How fresh a table of a source is now. */
export interface SourceFreshness extends FreshnessLimits {
  /** `source.table` */
  readonly source: string
  /** When its newest row was fetched, ISO 8601, UTC. */
  readonly loadedAt: string
  readonly ageSeconds: number
  readonly status: Freshness
}

const rowsShape = z.array(
  z.object({
    source: z.string(),
    loaded_ms: z.coerce.number(),
    warn_after_seconds: z.coerce.number().nullable(),
    error_after_seconds: z.coerce.number().nullable(),
  }),
)

/**
 * The sources that are expected to be fresh, as the warehouse at `path` knows
 * them, judged at `now` (milliseconds since the epoch). Empty where there is no
 * warehouse that can be read, and with one of an earlier version.
 */
export async function readSourceFreshness(path: string, now: number): Promise<SourceFreshness[]> {
  try {
    const rows = await withWarehouse(path, (database) =>
      database.rows(statement('meta/published_freshness')),
    )
    return rowsShape.parse(rows).map((row) => judged(row, now))
  } catch {
    return []
  }
}

function judged(row: z.output<typeof rowsShape>[number], now: number): SourceFreshness {
  const limits = {
    warnAfterSeconds: row.warn_after_seconds,
    errorAfterSeconds: row.error_after_seconds,
  }
  const ageMs = now - row.loaded_ms
  return {
    source: row.source,
    loadedAt: new Date(row.loaded_ms).toISOString(),
    ageSeconds: Math.floor(ageMs / 1000),
    ...limits,
    status: freshnessOf(ageMs, limits),
  }
}

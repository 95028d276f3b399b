import { isDay, type Day } from '../../lib/days.ts'
import { Database, listLiteral } from '../../lib/duckdb.ts'
import { baseGlob } from '../../lake/layout.ts'
import { statement, fill } from '../../lib/package.ts'

/** A number of a day's rows that the warehouse cannot hold as it was served. */
export interface NotHeld {
  readonly orgId: string
  readonly resource: string
  readonly day: Day
  readonly path: string
  /**
   * `unreadable`: NULL in the warehouse; `overflow`: its sum is; `rounded`: read to the
   * sixth digit.
   */
  readonly kind: 'unreadable' | 'overflow' | 'rounded'
}

const NOT_HELD = statement('verify/not_held')

/**
 * What was served on these days and differs from what base reads of it. Facts that
 * are compared are read by the same statements on both sides, so they cannot tell.
 */
export async function notHeld(dataFolder: string, days: readonly Day[]): Promise<NotHeld[]> {
  const database = await Database.open(':memory:')
  try {
    const drift = listLiteral([baseGlob(dataFolder, 'schema_drift')])
    const { rows } = await database.table(fill(NOT_HELD, { drift }))
    return rows.flatMap(([orgId, resource, path, kind, day]) =>
      typeof orgId === 'string' &&
      typeof resource === 'string' &&
      typeof path === 'string' &&
      (kind === 'unreadable' || kind === 'overflow' || kind === 'rounded') &&
      typeof day === 'string' &&
      isDay(day) &&
      days.includes(day)
        ? [{ orgId, resource, day, path, kind }]
        : [],
    )
  } finally {
    database.close()
  }
}

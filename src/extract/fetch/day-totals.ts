import type { Day } from '../../lib/days.ts'
import { intervalKey, type Ledger } from '../../lake/ledger.ts'
import { RESOURCES, type Resource } from '../resources.ts'

/**
 * What a day's pages of users are held against: when none of these moved while
 * the pages were read, the pages are of one snapshot.
 */
export const DAY_TOTALS: readonly Resource[] = RESOURCES.filter(({ name }) =>
  ['activity', 'tokens_by_model', 'productivity'].includes(name),
)

/** The versions of a day's totals, as known. Clocks have no say in it. */
export function totalsVersion(known: Ledger, day: Day): string {
  return DAY_TOTALS.map(({ name }) => known.get(intervalKey(name, day))?.file ?? 'none').join(' ')
}

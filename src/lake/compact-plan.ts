import { grouped, packed } from '../lib/grouped.ts'
import { addDays, monthOf, parseDay, type Day } from '../lib/days.ts'
import { isOld } from './ledger.ts'
import type { RawFile } from './layout.ts'

/** A file of the lake, and the versions in it: one, or several in a merged file. */
export interface RawSource {
  readonly orgId: string
  readonly resource: string
  readonly path: string
  readonly bytes: number
  readonly versions: readonly RawFile[]
}

/** Files of one resource, organisation and month that become one file. */
export interface MergeTask {
  readonly orgId: string
  readonly resource: string
  /** `YYYY-MM`. */
  readonly month: string
  /** At least two, in the order of their first days. */
  readonly sources: readonly RawSource[]
  readonly bytes: number
}

interface MergeLimits {
  /** A file of this size is not merged. */
  readonly large: number
  /** The highest total size of the files that are merged into one. */
  readonly most: number
}

const MERGE_LIMITS: MergeLimits = { large: 128 * 2 ** 20, most: 512 * 2 ** 20 }

/**
 * Plans merges of files below the size of a large one, in months whose days have all had their
 * last scheduled recheck.
 *
 * @param now by the platform's clock, milliseconds since the epoch.
 */
export function planMerges(
  sources: readonly RawSource[],
  now: number,
  limits: MergeLimits = MERGE_LIMITS,
): MergeTask[] {
  const small = sources.filter(
    (source) => source.bytes < limits.large && isOld(lastDayOf(monthIn(source)), now),
  )
  const months = grouped(small, (source) =>
    [source.orgId, source.resource, monthIn(source)].join('\n'),
  )
  return [...months].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, own]) => tasksOf(own, limits))
}

function tasksOf(sources: readonly RawSource[], { most }: MergeLimits): MergeTask[] {
  const inOrder = [...sources].sort((a, b) => (placeIn(a) < placeIn(b) ? -1 : 1))
  return packed(inOrder, most).flatMap((pack) => {
    const [first] = pack
    if (first === undefined || pack.length < 2) return []
    const bytes = pack.reduce((sum, source) => sum + source.bytes, 0)
    const { orgId, resource } = first
    return [{ orgId, resource, month: monthIn(first), sources: pack, bytes }]
  })
}

/** Sorts a merged file before other files of the same day, so that it is extended. */
function placeIn({ versions: [first], path }: RawSource): string {
  return `${first?.day ?? ''} ${first?.file ?? ''} ${path}`
}

function monthIn({ versions: [first] }: RawSource): string {
  return first === undefined ? '' : monthOf(first.day)
}

function lastDayOf(month: string): Day {
  const nextMonth = addDays(parseDay(`${month}-28`, 'the month'), 4)
  return addDays(parseDay(`${monthOf(nextMonth)}-01`, 'the month'), -1)
}

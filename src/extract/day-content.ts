import type { PageOrigin } from './page-text.ts'
import type { RawRow } from './row-lines.ts'
import { RowsDigest } from './rows-digest.ts'

/** The rows of one day, ready to be landed. */
export interface DayContent {
  /** Of the rows, whatever their order. */
  readonly digest: string
  readonly count: number
  /** Where the day was last asked for. */
  readonly last: PageOrigin
  /** Read where they are new only. */
  readonly rows: AsyncIterable<RawRow> | Iterable<RawRow>
}

export function contentOf(rows: readonly RawRow[], last: PageOrigin): DayContent {
  const digest = new RowsDigest()
  for (const { item } of rows) digest.add(item)
  return { digest: digest.value(), count: rows.length, last, rows }
}

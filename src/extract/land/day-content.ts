import type { LineFile, PageOrigin, RawRow } from './row-lines.ts'
import { RowsDigest } from './rows-digest.ts'

/** The rows of one day, ready to be landed. */
export interface DayContent {
  /** Of the rows, whatever their order. */
  readonly digest: string
  readonly count: number
  /** Where the day was last asked for. */
  readonly last: PageOrigin
  /** Where the rows are; they are read where they are new only. */
  readonly source: RowSource
}

/** Rows in their order, or a file that has them as lines already. */
export type RowSource = {
  /** Of all rows, or more. */
  readonly characters: number
} & (
  | { readonly rows: () => AsyncIterable<RawRow> | Iterable<RawRow> }
  | { readonly openFile: () => Promise<LineFile> }
)

export function contentOf(rows: readonly RawRow[], last: PageOrigin): DayContent {
  const digest = new RowsDigest()
  let characters = 0
  for (const { item } of rows) {
    digest.add(item)
    characters += item.length
  }
  const source = { rows: () => rows, characters }
  return { digest: digest.value(), count: rows.length, last, source }
}

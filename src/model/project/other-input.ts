/** The time, chance, files and the pipeline's own tables. */
const OTHER_INPUT =
  /\bmeta\.|\bcurrent_(?:catalog|database|date|local|query|role|schema|setting|time|transaction|user)|\bnow\b|\btoday\b|get_current|\blocal_?time|timestamp\s*\(\s*\)|random|uuid|\bread_|\bglob\b|\bage\s*\(|_scan\s*\(|'[^']*\.(?:csv|json|parquet)/i

const TEXT_OR_COMMENT = /('(?:[^']|'')*')|--[^\n]*|\/\*.*?\*\//gs

/**
 * Whether a statement may return other rows although those of its models are the same. A false
 * match only costs time: a check runs again, or a table is built again.
 */
export function hasOtherInput(sql: string): boolean {
  return OTHER_INPUT.test(
    sql.replaceAll(TEXT_OR_COMMENT, (_, text: string | undefined) => text ?? ' '),
  )
}

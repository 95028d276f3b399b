import { literal } from '../lib/duckdb.ts'

/**
 * Text that a spreadsheet would run as a formula: `=`, `+`, `-` or `@`, also
 * in full width, after any white space, control or invisible characters; or a
 * leading tab or carriage return (OWASP, "CSV Injection"). The pattern reads
 * the same in JavaScript (with the `u` flag) and in RE2, which DuckDB uses.
 */
const FORMULA = String.raw`^[\p{Z}\p{Cc}\p{Cf}]*[=+\-@＝＋－＠]|^[\t\r]`

const formula = new RegExp(FORMULA, 'u')

/** The text with a leading apostrophe where a spreadsheet would run it, else as it is. */
export function defused(text: string): string {
  return formula.test(text) ? `'${text}` : text
}

/** `defused` of a text expression, as SQL. */
export function defusedSql(expression: string): string {
  const runs = `regexp_matches(${expression}, ${literal(FORMULA)})`
  return `case when ${runs} then '''' || ${expression} else ${expression} end`
}

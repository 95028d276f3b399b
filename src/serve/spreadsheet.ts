/**
 * What a CSV file for a spreadsheet begins with: Excel reads a file without it in the machine's old
 * code page; BI tools and DuckDB skip it.
 */
export const BYTE_ORDER_MARK = '\ufeff'

/**
 * Text that a spreadsheet would run as a formula: `=`, `+`, `-` or `@`, also
 * in full width, after any white space, control or invisible characters; or a
 * leading tab or carriage return (OWASP, "CSV Injection"). The pattern reads
 * the same in JavaScript (with the `u` flag) and in RE2, which DuckDB uses.
 */
export const FORMULA = String.raw`^[\p{Z}\p{Cc}\p{Cf}]*[=+\-@＝＋－＠]|^[\t\r]`

const formula = new RegExp(FORMULA, 'u')

/** Puts an apostrophe before text that a spreadsheet would run. */
export function defused(text: string): string {
  return formula.test(text) ? `'${text}` : text
}

/** A text as a field of CSV (RFC 4180) that no spreadsheet runs. Empty text is `""`, unlike NULL. */
export function csvField(text: string): string {
  const safe = defused(text)
  return safe === '' || /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

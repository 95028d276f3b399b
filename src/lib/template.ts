/**
 * Fills `{{ name }}` in a statement with SQL text. Values are SQL already:
 * pass them through `literal` or `identifier`.
 *
 * @throws RangeError for a placeholder without a value.
 */
export function fill(sql: string, values: Readonly<Record<string, string>>): string {
  return sql.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new RangeError(`the statement has no value for {{ ${name} }}`)
    return value
  })
}

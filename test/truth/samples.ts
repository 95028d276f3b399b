import type { PlatformResponses } from './answers.ts'
import { type JsonObject, parseExact } from './exact-json.ts'
import type { Expected, ExpectedTable } from './table.ts'

export const DAY = '2026-02-01'

/** Responses of a made-up window; each endpoint's rows as JSON text, none where not given. */
export function answersOf(
  rows: Partial<Record<keyof PlatformResponses, string>>,
): PlatformResponses {
  const read = (name: keyof PlatformResponses): JsonObject[] => {
    const parsed = parseExact(rows[name] ?? '[]')
    return Array.isArray(parsed)
      ? parsed.filter((row): row is JsonObject => row instanceof Map)
      : []
  }
  return {
    orgId: 'org-1',
    first: DAY,
    last: '2026-02-03',
    tokens: read('tokens'),
    tools: read('tools'),
    activity: read('activity'),
    productivity: read('productivity'),
    tokensByModel: read('tokensByModel'),
    toolsByName: read('toolsByName'),
    activityByClient: read('activityByClient'),
    users: read('users'),
  }
}

/** The rows as lists of the columns' values. */
export function valuesOf(table: ExpectedTable, ...columns: string[]): (Expected | undefined)[][] {
  return [...table.rows.values()].map((row) => columns.map((column) => row[column]))
}

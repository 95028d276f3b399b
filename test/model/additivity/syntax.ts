import type { Database } from '../../../src/lib/duckdb.ts'

/** A node of the syntax tree as DuckDB's own parser gives it. */
export type Syntax = Readonly<Record<string, unknown>>

/** The query of one statement. @throws Error with the parser's message. */
export async function parse(database: Database, sql: string): Promise<Syntax> {
  const [row] = await database.rows('select json_serialize_sql(cast($sql as varchar)) as tree', {
    sql,
  })
  const tree = asSyntax(JSON.parse(textOf(row?.['tree'])))
  if (tree['error'] === true) throw new Error(textOf(tree['error_message']))
  return inner(list(tree['statements'])[0])
}

function isSyntax(value: unknown): value is Syntax {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function asSyntax(value: unknown): Syntax {
  if (!isSyntax(value)) throw new Error(`no node: ${JSON.stringify(value)}`)
  return value
}

/** The nodes of a list; none where there is no list. */
export function list(value: unknown): Syntax[] {
  return Array.isArray(value) ? value.filter(isSyntax) : []
}

export function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** A query stands in a node of its own. */
export function inner(value: unknown): Syntax {
  return asSyntax(asSyntax(value)['node'])
}

/** The common table expressions of a query, in their order. */
export function commonTables(query: Syntax): { name: string; query: Syntax }[] {
  return list(asSyntax(query['cte_map'])['map']).map((entry) => ({
    name: textOf(entry['key']),
    query: inner(asSyntax(entry['value'])['query']),
  }))
}

/** How cells of a DuckDB type arrive in a `Table`, and so how they are to be written. */
export type ColumnType =
  | { readonly kind: 'integer' | 'decimal' | 'float' }
  | { readonly kind: 'boolean' | 'timestamp' | 'interval' | 'text' }
  | { readonly kind: 'list'; readonly item: ColumnType }
  | { readonly kind: 'map'; readonly key: ColumnType; readonly value: ColumnType }
  | { readonly kind: 'struct' | 'union'; readonly members: ReadonlyMap<string, ColumnType> }

const TEXT: ColumnType = { kind: 'text' }

const INTEGERS = /^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|BIGNUM)$/
const TIMESTAMPS = /^TIMESTAMP(_S|_MS|_NS| WITH TIME ZONE)?$/

/** Quoted names and labels, brackets and commas, and the rest between them. */
const TOKENS = /"(?:""|[^"])*"|'(?:''|[^'])*'|[(),]|[^"'(),]+/g

/**
 * Reads DuckDB's own name of a type, nested ones too, e.g.
 * `STRUCT("day" DATE, "counts" BIGINT[])[]`. A type that is not known is text.
 */
export function columnType(name: string): ColumnType {
  const item = /^(.*)\[\d*\]$/s.exec(name)?.[1]
  if (item !== undefined) return { kind: 'list', item: columnType(item) }
  const [, outer, inner] = /^(STRUCT|UNION|MAP)\((.*)\)$/s.exec(name) ?? []
  if (outer !== undefined && inner !== undefined) return nestedType(outer, inner)
  return scalarType(name)
}

/** True where a wrong digit would be a wrong figure: such cells are never cut, quoted or escaped. */
export function isNumeric(type: ColumnType): boolean {
  return type.kind === 'integer' || type.kind === 'decimal' || type.kind === 'float'
}

function nestedType(outer: string, inner: string): ColumnType {
  const parts = topLevelParts(inner)
  if (outer === 'MAP') {
    const [key = '', value = ''] = parts
    return { kind: 'map', key: columnType(key), value: columnType(value) }
  }
  return { kind: outer === 'UNION' ? 'union' : 'struct', members: new Map(parts.map(member)) }
}

function scalarType(name: string): ColumnType {
  if (INTEGERS.test(name)) return { kind: 'integer' }
  if (name.startsWith('DECIMAL')) return { kind: 'decimal' }
  if (name === 'DOUBLE' || name === 'FLOAT') return { kind: 'float' }
  if (name === 'BOOLEAN') return { kind: 'boolean' }
  if (TIMESTAMPS.test(name)) return { kind: 'timestamp' }
  if (name === 'INTERVAL') return { kind: 'interval' }
  return TEXT
}

/** `"name" TYPE` of a struct or union. */
function member(text: string): [string, ColumnType] {
  const [, name = '', type = ''] = /^"((?:""|[^"])*)" (.*)$/s.exec(text) ?? []
  return [name.replaceAll('""', '"'), columnType(type)]
}

function topLevelParts(text: string): string[] {
  const parts = ['']
  let depth = 0
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === '(') depth += 1
    if (token === ')') depth -= 1
    if (token === ',' && depth === 0) parts.push('')
    else parts.push((parts.pop() ?? '') + token)
  }
  return parts.map((part) => part.trim())
}

import { measured, mixed, picked, PLAIN, unsummable, type Value } from './measures.ts'
import { asSyntax, commonTables, inner, list, texts, textOf, type Syntax } from './syntax.ts'

/** The columns of a relation, in order. A relation that is open may have more, of which nothing is known. */
export interface Relation {
  readonly columns: ReadonlyMap<string, Value>
  readonly isOpen: boolean
}

/** The relations that a query can name: common table expressions, and tables as `schema.table`. */
export type Relations = ReadonlyMap<string, Relation>

interface Scope {
  readonly name: string
  readonly relation: Relation
}

/** The rows of an aggregate: their relations, and whether the time is among the group keys. */
interface Group {
  readonly scopes: readonly Scope[]
  readonly isTimeKept: boolean
}

const SUMS = ['sum', 'avg', 'mean']
const PICKS = ['max', 'min', 'max_by', 'min_by', 'any_value', 'first', 'last', 'arg_max', 'median']
const COUNTS = ['count', 'count_star', 'row_number', 'rank', 'dense_rank', 'length']

/**
 * The measures of each column of a query, through its joins, unions and common table expressions;
 * and the measures that it sums or averages although they do not add up. Filters and conditions
 * do not count.
 */
export class Lineage {
  /** One line each. */
  readonly wrongs: string[] = []
  readonly #known: Relations

  constructor(known: Relations) {
    this.#known = known
  }

  query(query: Syntax, outer: Relations = new Map()): Relation {
    const names = new Map(outer)
    for (const table of commonTables(query)) names.set(table.name, this.query(table.query, names))
    if (query['type'] === 'SELECT_NODE') return this.#select(query, names)
    if (query['type'] !== 'SET_OPERATION_NODE') throw new Error(`unknown: ${textOf(query['type'])}`)
    const sides = [query['left'], query['right']].map((side) => this.query(asSyntax(side), names))
    return united(sides[0], sides[1])
  }

  #select(select: Syntax, names: Relations): Relation {
    const scopes = this.#from(asSyntax(select['from_table']), names)
    const items = list(select['select_list'])
    const keys = list(select['group_expressions']).map((key) => items[placeOf(key) - 1] ?? key)
    const plain = { scopes, isTimeKept: false }
    const isTimeKept = keys.some((key) => this.#value(key, plain).isTime)
    const columns = new Map<string, Value>()
    for (const item of items) {
      if (item['class'] === 'STAR') {
        for (const [name, value] of starred(item, scopes)) columns.set(name, value)
      } else columns.set(nameOf(item), this.#value(item, { scopes, isTimeKept }))
    }
    const isStarred = items.some((item) => item['class'] === 'STAR')
    return { columns, isOpen: isStarred && scopes.some(({ relation }) => relation.isOpen) }
  }

  #from(table: Syntax, names: Relations): Scope[] {
    switch (table['type']) {
      case 'BASE_TABLE':
        return [
          {
            name: aliasOf(table, textOf(table['table_name'])),
            relation: this.#table(table, names),
          },
        ]
      case 'SUBQUERY':
        return [{ name: aliasOf(table, ''), relation: this.query(inner(table['subquery']), names) }]
      case 'JOIN':
        return ['left', 'right'].flatMap((side) => this.#from(asSyntax(table[side]), names))
      case 'EMPTY':
        return []
      default:
        throw new Error(`unknown: from ${textOf(table['type'])}`)
    }
  }

  #table(table: Syntax, names: Relations): Relation {
    const [schema, name] = [textOf(table['schema_name']), textOf(table['table_name'])]
    const found =
      (schema === '' ? names.get(name) : undefined) ??
      this.#known.get(`${schema || 'main'}.${name}`)
    if (found === undefined) throw new Error(`unknown relation ${schema}.${name}`)
    return found
  }

  #value(expression: Syntax, group: Group): Value {
    switch (expression['class']) {
      case 'COLUMN_REF':
        return columnOf(texts(expression['column_names']), group.scopes)
      case 'CASE':
        return mixed(this.#results(expression, group))
      case 'CAST':
        return this.#value(asSyntax(expression['child']), group)
      case 'OPERATOR':
        return mixed(this.#all(list(expression['children']), group))
      case 'FUNCTION':
        return this.#function(expression, group)
      case 'WINDOW':
        return this.#window(expression, group)
      default:
        return PLAIN
    }
  }

  #all(expressions: readonly Syntax[], group: Group): Value[] {
    return expressions.map((each) => this.#value(each, group))
  }

  #results(expression: Syntax, group: Group): Value[] {
    const thens = list(expression['case_checks']).map((check) => asSyntax(check['then_expr']))
    return this.#all([...thens, asSyntax(expression['else_expr'])], group)
  }

  #function(expression: Syntax, group: Group): Value {
    const name = textOf(expression['function_name'])
    const values = this.#all(list(expression['children']), group)
    const value = mixed(values)
    if (SUMS.includes(name)) return this.#sum(name, value, group.isTimeKept)
    if (PICKS.includes(name)) return picked(mixed(values.slice(0, 1)))
    if (COUNTS.includes(name)) return PLAIN
    const isMeasured = values.map(({ measures }) => measures.size > 0)
    if (name === '/' && isMeasured[1] === true) return measured('ratio', 'a quotient')
    // a product has a unit of its own
    return name === '*' && isMeasured.every(Boolean) ? PLAIN : value
  }

  #window(expression: Syntax, group: Group): Value {
    const name = textOf(expression['function_name'])
    const value = mixed(this.#all(list(expression['children']), group))
    if (!SUMS.includes(name)) return COUNTS.includes(name) ? PLAIN : value
    const partitions = this.#all(list(expression['partitions']), group)
    const summed = this.#sum(
      name,
      value,
      partitions.some(({ isTime }) => isTime),
    )
    const what = list(expression['orders']).length > 0 ? 'trailing' : 'none'
    return summed.measures.size === 0 ? PLAIN : measured(what, `a ${name} over rows`)
  }

  #sum(name: string, value: Value, isTimeKept: boolean): Value {
    for (const wrong of unsummable(value, isTimeKept)) this.wrongs.push(`${name} of ${wrong}`)
    if (value.measures.size === 0) return PLAIN
    return measured(name === 'sum' ? 'additive' : 'average', `a ${name}`)
  }
}

function placeOf(key: Syntax): number {
  const value = key['class'] === 'CONSTANT' ? asSyntax(key['value'])['value'] : undefined
  return typeof value === 'number' ? value : NaN
}

function aliasOf(syntax: Syntax, otherwise: string): string {
  const alias = textOf(syntax['alias'])
  return alias === '' ? otherwise : alias
}

function nameOf(item: Syntax): string {
  return aliasOf(item, texts(item['column_names']).at(-1) ?? '')
}

function starred(star: Syntax, scopes: readonly Scope[]): (readonly [string, Value])[] {
  const name = textOf(star['relation_name'])
  return scopes
    .filter((scope) => name === '' || scope.name === name)
    .flatMap(({ relation }) => [...relation.columns])
}

function columnOf(path: readonly string[], scopes: readonly Scope[]): Value {
  const [name = '', owner] = path.toReversed()
  for (const scope of scopes) {
    if (owner !== undefined && scope.name !== owner) continue
    const value = scope.relation.columns.get(name)
    if (value !== undefined) return value
  }
  if (scopes.some(({ relation }) => relation.isOpen)) return PLAIN
  throw new Error(`unknown column ${path.join('.')}`)
}

/** A union's columns are those of its left side, each made of both. */
function united(left: Relation | undefined, right: Relation | undefined): Relation {
  const others = [...(right?.columns.values() ?? [])]
  const columns = [...(left?.columns ?? [])].map(([name, value], index) => {
    const other = others[index] ?? PLAIN
    return [name, { ...mixed([value, other]), isTime: value.isTime && other.isTime }] as const
  })
  return { columns: new Map(columns), isOpen: left?.isOpen === true || right?.isOpen === true }
}

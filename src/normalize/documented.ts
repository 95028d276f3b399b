import { identifier } from '../store/duckdb.ts'

/** What a field is documented to be, in the words of `sql/drift/expected.sql`. */
export type FieldType =
  'integer' | 'decimal' | 'number' | 'string' | 'boolean' | 'array' | 'object' | 'any'

export interface Field {
  readonly type: FieldType
  /** Every object of its kind is to have it. */
  readonly isPromised: boolean
  /** Objects of its kind are told apart by it. */
  readonly isKey: boolean
}

/** The fields of one kind of object; `*` is any key, and an empty field the object itself. */
export type Fields = ReadonlyMap<string, Field>

/** The kinds of objects in the items of a resource: `$`, `$.by_user[]`, … */
export type Documented = ReadonlyMap<string, Fields>

/** The shape of something served, as DuckDB's `from_json` takes it. */
type Shape = string | readonly Shape[] | Fieldset
type Fieldset = Readonly<{ [field: string]: Shape }>

export interface ReadShape {
  /** For `from_json`. */
  readonly shape: string
  /** SQL conditions on the struct `read`: what is in it as served is a number that base reads as it is. */
  readonly conditions: readonly string[]
}

/** A struct must have a field. */
export const NO_FIELDS = { _: 'VARCHAR' }

const SCALARS = {
  integer: 'BIGINT',
  decimal: 'JSON',
  number: 'DOUBLE',
  string: 'VARCHAR',
  boolean: 'BOOLEAN',
  any: 'JSON',
} as const

/** The fields of the first object of each kind in an item, in their order. */
export type Sample = ReadonlyMap<string, readonly string[]>

/**
 * The documented shape of an item, its fields in the order of the sample: an item
 * in the same order that is as documented comes back from the shape letter by letter.
 */
export function shapeOf(documented: Documented, sample: Sample): ReadShape {
  const shape = objectShape(documented, '$', sample)
  // 4 is a ratio, and so is 4.0: read as it is, and looked at by itself
  const numbers = [...(documented.get('$') ?? [])].flatMap(([field, { type }]) =>
    type === 'number' && field in shape ? [field] : [],
  )
  const asServed = Object.fromEntries(numbers.map((field) => [field, 'JSON']))
  const conditions = [
    ...numbers.map((field) => `is_number(read.${identifier(field)})`),
    ...creditConditions(documented, '$', shape, 'read'),
  ]
  return { shape: JSON.stringify({ ...shape, ...asServed }), conditions }
}

/** That the credits of an object in the struct, and of the objects within it, are read as they are. */
function creditConditions(
  documented: Documented,
  object: string,
  shape: Fieldset,
  struct: string,
  depth = 1,
): string[] {
  return [...(documented.get(object) ?? [])].flatMap(([field, { type }]) => {
    const own = shape[field]
    const value = `${struct}.${identifier(field)}`
    if (own === undefined) return []
    if (type === 'decimal') return [`is_credits(${value})`]
    if (isFieldset(own))
      return creditConditions(documented, `${object}.${field}`, own, value, depth)
    const element = isList(own) ? own[0] : undefined
    if (!isFieldset(element)) return []
    const name = `element_${depth}`
    const within = creditConditions(documented, `${object}.${field}[]`, element, name, depth + 1)
    if (within.length === 0) return []
    const others = `list_filter(${value}, lambda ${name}: not (${within.join(' and ')}))`
    return [`coalesce(len(${others}), 0) = 0`]
  })
}

function objectShape(documented: Documented, object: string, sample: Sample): Fieldset {
  const fields = documented.get(object) ?? new Map<string, Field>()
  const served = sample.get(object) ?? []
  const isNamed = served.some((field) => fields.get(field)?.isKey === true)
  // a field that is promised, or a key, and that the sample lacks is in the shape: without it nothing comes back as it was
  const needed = [...fields].flatMap(([field, { isPromised, isKey }]) =>
    isPromised || (isKey && !isNamed) ? [field] : [],
  )
  const shapes = [...new Set([...served, ...needed])].flatMap((field) => {
    const type = fields.get(field)?.type
    if (type === undefined) return []
    const shape = fieldShape(documented, `${object}.${field}`, type, sample)
    return shape === undefined ? [] : [[field, shape] as const]
  })
  return shapes.length === 0 ? NO_FIELDS : Object.fromEntries(shapes)
}

/** Undefined for a map of objects: what holds one is looked at. */
function fieldShape(
  documented: Documented,
  path: string,
  type: FieldType,
  sample: Sample,
): Shape | undefined {
  if (type === 'array') return [elementShape(documented, `${path}[]`, sample)]
  if (type !== 'object') return SCALARS[type]
  const values = documented.get(path)?.get('*')?.type
  if (values === undefined) return objectShape(documented, path, sample)
  return values === 'object' || values === 'array' ? undefined : `MAP(VARCHAR, ${SCALARS[values]})`
}

function elementShape(documented: Documented, path: string, sample: Sample): Shape {
  const type = documented.get(path)?.get('')?.type
  if (type === 'string' || type === 'any') return SCALARS[type]
  return objectShape(documented, path, sample)
}

function isList(shape: Shape): shape is readonly Shape[] {
  return Array.isArray(shape)
}

function isFieldset(shape: Shape | undefined): shape is Fieldset {
  return typeof shape === 'object' && !Array.isArray(shape)
}

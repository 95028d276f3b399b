import { identifier, literal } from '../lib/duckdb.ts'
import type { Fieldset, Shape } from '../lake/resources.ts'

/** What a field is documented to be, in the words of `sql/drift/expected.sql`. */
export type FieldType = keyof typeof SCALARS | 'array' | 'object'

export function isFieldType(value: unknown): value is FieldType {
  const type = String(value)
  return type in SCALARS || type === 'array' || type === 'object'
}

export interface Field {
  readonly type: FieldType
  /** Every object of its kind is to have it. */
  readonly isPromised: boolean
  /** It identifies the objects of its kind. */
  readonly isKey: boolean
}

/** The fields of one kind of object; `*` is any key, and an empty field the object itself. */
export type Fields = ReadonlyMap<string, Field>

/** The kinds of objects in the items of a resource: `$`, `$.by_user[]`, … */
export type Documented = ReadonlyMap<string, Fields>

/** What items can come back from letter by letter; each then has exactly its fields, in its order. */
export interface ReadShape {
  readonly shape: Fieldset
  /** SQL conditions on the struct `read`: objects are named, and what is served as a number base reads as it is. */
  readonly conditions: readonly string[]
  /** Whether it has all the fields that are documented, and no other. */
  readonly isDocumented: boolean
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

/** The fields of the first object of each kind within an item, in their order. */
export type Sample = ReadonlyMap<string, readonly string[]>

/**
 * The shape of an item with these keys: what is documented as it is documented,
 * and the rest as it comes. An item that is as documented comes back from it
 * letter by letter when its objects have the order of the sample. Undefined for
 * keys that no struct has.
 */
export function shapeOf(
  documented: Documented,
  keys: readonly string[],
  sample: Sample,
): ReadShape | undefined {
  const fields: Fields = documented.get('$') ?? new Map<string, Field>()
  const unknown = keys.filter((key) => !fields.has(key))
  // names of a struct are the same in any case
  const names = new Set([...keys, ...fields.keys()].map((key) => key.toLowerCase()))
  const isStruct =
    keys.length > 0 && names.size === fields.size + unknown.length && unknown.every(isPlain)
  if (!isStruct || unknown.length > MAX_UNKNOWN) return undefined
  const shape: Record<string, Shape> = {}
  for (const key of keys) {
    const type = fields.get(key)?.type
    // 4 is a ratio, and so is 4.0: read as it is, and looked at by itself
    const isAsServed = type === undefined || type === 'number'
    const own = isAsServed ? 'JSON' : fieldShape(documented, `$.${key}`, type, sample)
    if (own === undefined) return undefined
    shape[key] = own
  }
  const isWhole = [...fields].every(
    ([field, { isPromised, isKey }]) => field in shape || isKey || !isPromised,
  )
  return {
    shape,
    conditions: [
      ...keys.flatMap((key) =>
        fields.get(key)?.type === 'number' ? [`is_number(read.${identifier(key)})`] : [],
      ),
      ...namedConditions(documented, shape),
      ...creditConditions(documented, '$', shape, 'read'),
    ],
    isDocumented: isWhole && unknown.length === 0 && isNamed(fields, keys),
  }
}

/** More fields than these are not looked at together. */
const MAX_UNKNOWN = 100

/** Whether a struct can have a field of that name beside any other. */
function isPlain(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]{0,39}$/.test(name)
}

/** The fields that identify objects of the kind. */
export function keysOf(fields: Fields = new Map<string, Field>()): string[] {
  return [...fields].flatMap(([field, { isKey }]) => (isKey ? [field] : []))
}

/** Whether one of these fields identifies an object, where one is needed for it. */
function isNamed(fields: Fields, served: readonly string[]): boolean {
  const keys = keysOf(fields)
  return keys.length === 0 || keys.some((key) => served.includes(key))
}

/** That an item is named, and that none of its elements has a name that is null or empty. */
function namedConditions(documented: Documented, shape: Fieldset): string[] {
  const own = keysOf(documented.get('$'))
    .filter((key) => key in shape)
    .map((key) => `nullif(cast(read.${identifier(key)} as varchar), '')`)
  const within = [...documented].flatMap(([kind, fields]) => (kind === '$' ? [] : keysOf(fields)))
  // in the text: a lambda is made ready for each vector, and a small file is one
  const unnamed = literal(`"(${[...new Set(within)].join('|')})"\\s*:\\s*(null|"")`)
  return [
    ...(own.length === 0 ? [] : [`coalesce(${own.join(', ')}) is not null`]),
    ...(within.length === 0 ? [] : [`not regexp_matches(served, ${unnamed})`]),
  ]
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
  // a field that is promised, or a key, and that the sample lacks is in the shape: without it nothing comes back as it was
  const needed = [...fields].flatMap(([field, { isPromised, isKey }]) =>
    isPromised || (isKey && !isNamed(fields, served)) ? [field] : [],
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

export function isList(shape: Shape): shape is readonly Shape[] {
  return Array.isArray(shape)
}

export function isFieldset(shape: Shape | undefined): shape is Fieldset {
  return typeof shape === 'object' && !Array.isArray(shape)
}

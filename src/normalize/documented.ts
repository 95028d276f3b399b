import { z } from 'zod'
import { identifier, literal, type Database } from '../lib/duckdb.ts'
import { statement } from '../lib/package.ts'
import { isFieldset, isList, type Fieldset, type Shape } from '../lake/resources.ts'

/** The documented type of a field, as named in `sql/drift/expected.sql`. */
export type FieldType = keyof typeof SCALARS | 'array' | 'object'

interface Field {
  readonly type: FieldType
  /** Whether every object of its kind must have it. */
  readonly isPromised: boolean
  /** Whether it identifies the objects of its kind. */
  readonly isKey: boolean
}

/** The fields of one kind of object; `*` is any key, and an empty field the object itself. */
export type Fields = ReadonlyMap<string, Field>

/** The kinds of objects in the items of a resource: `$`, `$.by_user[]`, … */
export type Documented = ReadonlyMap<string, Fields>

/** A shape through which items round-trip exactly: they have just its fields, in its order. */
export interface ReadShape {
  readonly shape: Fieldset
  /** SQL conditions on the struct `read`: objects have keys, and base reads numbers exactly. */
  readonly conditions: readonly string[]
  /** Whether it has exactly the documented fields. */
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

const fieldRows = z.array(
  z.object({
    resource: z.string(),
    object: z.string(),
    field: z.string(),
    type: z.enum(['integer', 'decimal', 'number', 'string', 'boolean', 'any', 'array', 'object']),
    is_promised: z.boolean(),
    is_key: z.boolean(),
  }),
)

/** Reads the documented fields of each resource; creates the table that findings need. */
export async function readDocumented(database: Database): Promise<ReadonlyMap<string, Documented>> {
  await database.run(statement('drift/expected'))
  const rows = fieldRows.parse(await database.rows(statement('drift/fields')))
  const all = new Map<string, Map<string, Map<string, Field>>>()
  for (const { resource, object, field, type, is_promised, is_key } of rows) {
    const documented = all.get(resource) ?? new Map<string, Map<string, Field>>()
    const fields = documented.get(object) ?? new Map<string, Field>()
    all.set(resource, documented.set(object, fields))
    fields.set(field, { type, isPromised: is_promised, isKey: is_key })
  }
  return all
}

/** The fields of the first object of each kind within an item, in their order. */
export type Sample = ReadonlyMap<string, readonly string[]>

/**
 * The shape of an item with these keys: documented fields have their documented type, all others
 * are JSON. A documented item round-trips through it exactly if its objects have the field order
 * of the sample. Undefined for keys that no struct can have.
 */
export function shapeOf(
  documented: Documented,
  keys: readonly string[],
  sample: Sample,
): ReadShape | undefined {
  const fields: Fields = documented.get('$') ?? new Map<string, Field>()
  const unknown = keys.filter((key) => !fields.has(key))
  // field names of a struct ignore case
  const names = new Set([...keys, ...fields.keys()].map((key) => key.toLowerCase()))
  const isStruct =
    keys.length > 0 && names.size === fields.size + unknown.length && unknown.every(isPlain)
  if (!isStruct || unknown.length > MAX_UNKNOWN) return undefined
  const shape: Record<string, Shape> = {}
  for (const key of keys) {
    const type = fields.get(key)?.type
    // 4 and 4.0 are both ratios: read as JSON, and checked separately
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

const MAX_UNKNOWN = 100

/** Whether a struct can have a field of that name beside any other. */
function isPlain(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]{0,39}$/.test(name)
}

/** The fields that identify objects of the kind. */
export function keysOf(fields: Fields = new Map<string, Field>()): string[] {
  return [...fields].flatMap(([field, { isKey }]) => (isKey ? [field] : []))
}

/** Whether a served field identifies the object, or the object needs no key. */
function isNamed(fields: Fields, served: readonly string[]): boolean {
  const keys = keysOf(fields)
  return keys.length === 0 || keys.some((key) => served.includes(key))
}

/** Conditions: the item has a key, and no key within it is null or empty. */
function namedConditions(documented: Documented, shape: Fieldset): string[] {
  const own = keysOf(documented.get('$'))
    .filter((key) => key in shape)
    .map((key) => `nullif(cast(read.${identifier(key)} as varchar), '')`)
  const within = [...documented].flatMap(([kind, fields]) => (kind === '$' ? [] : keysOf(fields)))
  // on the text: a lambda is prepared for each vector, and a small file is one vector
  const unnamed = literal(`"(${[...new Set(within)].join('|')})"\\s*:\\s*(null|"")`)
  return [
    ...(own.length === 0 ? [] : [`coalesce(${own.join(', ')}) is not null`]),
    ...(within.length === 0 ? [] : [`not regexp_matches(served, ${unnamed})`]),
  ]
}

/** Conditions: base reads the credits of an object, and of the objects within it, exactly. */
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
  // promised fields and keys that the sample lacks are added, so that items without them differ
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

/** Undefined for a map of objects: items with one are always examined. */
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

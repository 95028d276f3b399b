/** What a field is documented to be, in the words of `sql/drift/expected.sql`. */
export type FieldType = 'integer' | 'number' | 'string' | 'array' | 'object'

/** The fields of one kind of object; `*` is any key, and an empty field the object itself. */
export type Fields = ReadonlyMap<string, FieldType>

/** The kinds of objects in the items of a resource: `$`, `$.by_user[]`, … */
export type Documented = ReadonlyMap<string, Fields>

/** The shape of something served, as DuckDB's `from_json` takes it. */
type Shape = string | readonly Shape[] | { readonly [field: string]: Shape }

/** A struct must have a field. */
export const NO_FIELDS = { _: 'VARCHAR' }

const SCALARS = { integer: 'BIGINT', number: 'DOUBLE', string: 'VARCHAR' } as const

/**
 * The documented shape of an item, its fields in the order in which the sample
 * has them: an item in the same order that is as documented comes back from it
 * letter by letter.
 */
export function shapeOf(documented: Documented, sample: string): string {
  return JSON.stringify(objectShape(documented, '$', parsed(sample)))
}

function objectShape(documented: Documented, object: string, sample: unknown): Shape {
  const fields = documented.get(object) ?? new Map<string, FieldType>()
  if (typeof sample !== 'object' || sample === null) return NO_FIELDS
  const shapes = Object.entries(sample).flatMap(([field, value]) => {
    const type = fields.get(field)
    return type === undefined
      ? []
      : [[field, fieldShape(documented, `${object}.${field}`, type, value)] as const]
  })
  return shapes.length === 0 ? NO_FIELDS : Object.fromEntries(shapes)
}

function fieldShape(documented: Documented, path: string, type: FieldType, sample: unknown): Shape {
  if (type === 'array') return [elementShape(documented, `${path}[]`, sample)]
  if (type !== 'object') return SCALARS[type]
  const values = documented.get(path)?.get('*')
  return values === 'integer' ? 'MAP(VARCHAR, BIGINT)' : 'MAP(VARCHAR, DOUBLE)'
}

function elementShape(documented: Documented, path: string, sample: unknown): Shape {
  if (documented.get(path)?.get('') === 'string') return SCALARS.string
  const elements: readonly unknown[] = Array.isArray(sample) ? sample : []
  return objectShape(documented, path, elements[0])
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // an item that is no JSON is no sample
  }
}

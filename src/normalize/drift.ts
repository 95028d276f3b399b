import { identifier, listLiteral, literal, type Database } from '../lib/duckdb.ts'
import { statement, fill } from '../lib/package.ts'
import { BATCH_STATEMENTS, FOUND_STATEMENTS, type DayBatch, MACROS, parsedSql } from './batch.ts'
import {
  isFieldType,
  keysOf,
  NO_FIELDS,
  type Documented,
  type Field,
  type Fields,
  type FieldType,
} from './documented.ts'
import { currentDays, digestOfStatements, type BaseEntity } from './base-plan.ts'

const FIELDS = statement('drift/fields')
const OBJECTS_ITEM = statement('drift/objects_item')
const OBJECTS_PART = statement('drift/objects_part')
const OBJECTS_ELEMENTS = statement('drift/objects_elements')
const SHAPES = statement('drift/shapes')
const CANDIDATES = statement('drift/candidates')
const FINDINGS = statement('drift/findings')
const NO_FINDINGS = statement('drift/no_findings')
const OVERFLOWS = statement('drift/overflows')
const SERVED = statement('drift/served')
const SERVED_WHOLE = statement('drift/served_whole')
const SERVED_NOTHING = statement('drift/served_nothing')
const CANDIDATE_OBJECTS = statement('drift/candidate_objects')
const EXPECTED = statement('drift/expected')
const ITEMS = statement('drift/items')
const STRANGE_SIZES = statement('drift/strange_sizes')

/** Types whose numbers are checked for whether base reads them exactly. */
const NUMBER_TYPES: readonly FieldType[] = ['integer', 'decimal', 'number']

/** Integers up to this are exact as doubles; larger ones are checked in the text. */
const MAX_EXACT = '9007199254740992'
const MAX_COUNT = '9223372036854775807'

/**
 * Where served rows differ from the documentation (`sql/drift/expected.sql`): unknown or missing
 * fields, other types, numbers that base cannot read exactly, and rows displaced by others with
 * the same key. Items that round-trip through the documented shape are not examined. If they
 * round-trip through another shape, the first one is examined. For all others, one object of
 * each shape is examined.
 */
export const SCHEMA_DRIFT: BaseEntity = {
  name: 'schema_drift',
  resource: null,
  errorLabel: 'schema_drift',
  statementsDigest: digestOfStatements(() => [
    ...[MACROS, ...BATCH_STATEMENTS, ...FOUND_STATEMENTS, EXPECTED, ITEMS],
    ...[OBJECTS_ITEM, OBJECTS_PART, OBJECTS_ELEMENTS, SHAPES, CANDIDATES, CANDIDATE_OBJECTS],
    ...[SERVED, SERVED_WHOLE, FINDINGS, OVERFLOWS, parsedSql('users')],
    shapesSql('$', new Map([['count', { type: 'integer', isPromised: true, isKey: true }]])),
  ]),
  sources: (options) => currentDays(options, ({ status }) => status === 'landed'),
  prepareAndSelect: async (database, batch) => {
    if (batch.days.length === 0) return batch.daysSql(NO_FINDINGS)
    const strange = await strangeItems(database)
    const repeated = batch.repeatedSql()
    const hasLarge = await hasLargeNumbers(database)
    if (strange.bytes > 0) await makeCandidates(database, batch, strange)
    return batch.daysSql(
      union([
        strange.bytes > 0 ? await findingsSql(database) : NO_FINDINGS,
        ...(hasLarge ? [`from (${OVERFLOWS})`] : []),
        ...(repeated === null ? [] : [`from (${repeated})`]),
      ]),
    )
  },
}

async function hasLargeNumbers(database: Database): Promise<boolean> {
  const { rows } = await database.table('select 1 from parsed where has_large_numbers limit 1')
  return rows.length > 0
}

/** Up to this size, or if all items are short, items are read once, into a table. */
const READ_ONCE_BYTES = 8 * 2 ** 20
const SHORT_ITEM_BYTES = 16 * 2 ** 10

/** The items that may differ from the documentation. */
interface Strange {
  readonly bytes: number
  readonly isReadOnce: boolean
  /** Whether some round-trip through no shape. */
  readonly hasUnlike: boolean
}

async function strangeItems(database: Database): Promise<Strange> {
  const { rows } = await database.table(STRANGE_SIZES)
  const [bytes, longest, hasUnlike] = rows[0] ?? []
  return {
    bytes: Number(bytes ?? 0),
    isReadOnce: Number(bytes) <= READ_ONCE_BYTES || Number(longest) <= SHORT_ITEM_BYTES,
    hasUnlike: hasUnlike === true,
  }
}

/** Creates `candidates` from the items that may differ from the documentation. */
async function makeCandidates(
  database: Database,
  { resource, documented }: Pick<DayBatch, 'resource' | 'documented'>,
  { isReadOnce, hasUnlike }: Strange,
): Promise<void> {
  if (documented.size === 0) throw new Error(`nothing of ${resource} is in drift/expected.sql`)
  const relation = isReadOnce ? 'table gathered_items' : 'view items'
  await database.run(fill(ITEMS, { relation }))
  if (isReadOnce) await database.run('create or replace temp view items as from gathered_items')
  const shapes = [...documented].flatMap(([object, fields]) =>
    fields.get('')?.type === 'any' || (object !== '$' && !hasUnlike)
      ? []
      : [shapesSql(object, fields)],
  )
  await database.run(`create or replace temp table shapes as ${union(shapes)}`)
  await database.run(fill(CANDIDATES, { resource: literal(resource) }))
}

/** Reads the documented fields of each resource; creates the table that findings need. */
export async function readDocumented(database: Database): Promise<ReadonlyMap<string, Documented>> {
  await database.run(EXPECTED)
  const { rows } = await database.table(FIELDS)
  const all = new Map<string, Map<string, Map<string, Field>>>()
  for (const [resource, object, field, type, isPromised, isKey] of rows) {
    if (typeof resource !== 'string' || typeof object !== 'string') continue
    if (typeof field !== 'string' || !isFieldType(type)) continue
    const documented = all.get(resource) ?? new Map<string, Map<string, Field>>()
    const fields = documented.get(object) ?? new Map<string, Field>()
    all.set(resource, documented.set(object, fields))
    fields.set(field, { type, isPromised: isPromised === true, isKey: isKey === true })
  }
  return all
}

/** Where objects of one kind have to be examined. */
interface Candidate {
  readonly keys: Set<string>
  readonly places: Set<string>
  /** Whether the object itself is to be examined. */
  isItself: boolean
}

async function findingsSql(database: Database): Promise<string> {
  const candidates = new Map<string, Candidate>()
  for (const [object, key, place] of (await database.table(CANDIDATE_OBJECTS)).rows) {
    if (typeof object !== 'string' || typeof place !== 'string') continue
    const candidate = candidates.get(object) ?? {
      keys: new Set(),
      places: new Set(),
      isItself: false,
    }
    candidates.set(object, candidate)
    candidate.places.add(place)
    if (typeof key === 'string') candidate.keys.add(key)
    else candidate.isItself = true
  }
  const served = [...candidates].flatMap(([object, { keys, places, isItself }]) => {
    const values = {
      object: literal(object),
      objects: objectsSql(object),
      places: `[${[...places].join()}]`,
      keys: listLiteral([...keys]),
      pointers: listLiteral([...keys].map(pointer)),
    }
    return [
      ...(keys.size === 0 ? [] : [fill(SERVED, values)]),
      ...(isItself ? [fill(SERVED_WHOLE, values)] : []),
    ]
  })
  return fill(FINDINGS, { served: union([SERVED_NOTHING, ...served]) })
}

/** The key as a JSON pointer. */
function pointer(key: string): string {
  return `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

function shapesSql(object: string, fields: Fields): string {
  const numbers = [...fields].filter(
    ([field, { type }]) => NUMBER_TYPES.includes(type) && field !== '*',
  )
  const shape = Object.fromEntries(numbers.map(([field]) => [field, 'DOUBLE']))
  const columns = numbers.map(([field, { type }]) => ({
    number: `numbers.${identifier(field)}`,
    type,
  }))
  return fill(SHAPES, {
    object: literal(object),
    // an item is an object, or none
    own_type:
      object === '$' ? "case when object is not null then 'OBJECT' end" : 'json_type(object)',
    objects: objectsSql(object),
    numbers: literal(JSON.stringify(numbers.length === 0 ? NO_FIELDS : shape)),
    unread: bits(
      columns.map(({ number, type }) =>
        type === 'number' ? `not isfinite(${number})` : `abs(${number}) >= ${MAX_COUNT}`,
      ),
      true,
    ),
    is_unnamed: unnamedSql(keysOf(fields)),
    inexact: bits(
      columns.map(({ number, type }) => inexactSql(number, type)),
      false,
    ),
  })
}

/** SQL: whether all keys of an object are missing, null or empty; false if it needs none. */
function unnamedSql(keys: readonly string[]): string {
  if (keys.length === 0) return 'false'
  const values = keys.map(
    (key) => `nullif(json_extract_string(object, ${literal(`$.${key}`)}), '')`,
  )
  return `coalesce(${values.join(', ')}) is null`
}

/** SQL: whether base may read a number differently than a double. */
function inexactSql(number: string, type: FieldType): string {
  if (type === 'number') return 'false'
  const whole = type === 'integer' ? `trunc(${number})` : `round(${number}, 6)`
  return `${number} <> ${whole} or abs(${number}) > ${MAX_EXACT}`
}

/** SQL: conditions as bits of one integer, the lowest bit first; `otherwise` replaces NULL. */
function bits(conditions: readonly string[], otherwise: boolean): string {
  const terms = conditions.map(
    (condition, bit) => `(cast(coalesce(${condition}, ${otherwise}) as bigint) << ${bit})`,
  )
  return terms.length === 0 ? 'cast(0 as bigint)' : terms.join(' | ')
}

function objectsSql(object: string): string {
  if (object === '$') return OBJECTS_ITEM
  const template = /\[\]|\*/.test(object) ? OBJECTS_ELEMENTS : OBJECTS_PART
  return fill(template, { path: literal(object.replaceAll('[]', '[*]')) })
}

function union(selects: readonly string[]): string {
  return selects.join('\nunion all\n')
}

import { identifier, listLiteral, literal, type Cell, type Database } from '../store/duckdb.ts'
import { statement } from '../store/root.ts'
import { fill } from '../store/template.ts'
import type { DayBatch, DayEntity, DaySource } from './by-day.ts'
import {
  NO_FIELDS,
  shapeOf,
  type Sample,
  type Documented,
  type Field,
  type Fields,
  type FieldType,
} from './documented.ts'
import type { NormalizeOptions } from './plan.ts'

const FIELDS = statement('drift/fields')
const SAMPLE = statement('drift/sample')
const READ_BACK = statement('drift/read_back')
const STRANGE = statement('drift/strange')
const STRANGE_ITEMS = statement('drift/strange_items')
const ITEMS = statement('drift/items')
const OBJECTS_ITEM = statement('drift/objects_item')
const OBJECTS_PART = statement('drift/objects_part')
const OBJECTS_ELEMENTS = statement('drift/objects_elements')
const SHAPES_TABLE = statement('drift/shapes_table')
const SHAPES = statement('drift/shapes')
const SUSPECTS = statement('drift/suspects')
const FINDINGS = statement('drift/findings')
const NO_FINDINGS = statement('drift/no_findings')
const SERVED = statement('drift/served')
const SERVED_WHOLE = statement('drift/served_whole')
const SERVED_NOTHING = statement('drift/served_nothing')
const SUSPECT_OBJECTS = statement('drift/suspect_objects')
const EXPECTED = [statement('drift/expected'), statement('drift/macros')].join(';\n')

/** Types of which an object's numbers are read to see whether base reads them as they are. */
const NUMBER_TYPES: readonly FieldType[] = ['integer', 'decimal', 'number']

/** Integers to here are exact as doubles; beyond it the text itself has to be looked at. */
const MAX_EXACT = '9007199254740992'
const MAX_COUNT = '9223372036854775807'

/**
 * Where the rows served are not as documented (`sql/drift/expected.sql`): fields
 * that are unknown, missing or of another type, and numbers that the base cannot
 * read as they are. Items that come back from the documented shape as they were
 * are done with; of the others, objects of one shape are looked at once.
 */
export const SCHEMA_DRIFT: DayEntity = {
  name: 'schema_drift',
  table: [EXPECTED, statement('drift/table')].join(';\n'),
  statements: [
    ...[
      SAMPLE,
      READ_BACK,
      STRANGE,
      STRANGE_ITEMS,
      ITEMS,
      OBJECTS_ITEM,
      OBJECTS_PART,
      OBJECTS_ELEMENTS,
      SHAPES,
      SUSPECTS,
      SUSPECT_OBJECTS,
      SERVED,
      SERVED_WHOLE,
      FINDINGS,
    ],
    shapesSql('$', new Map([['count', { type: 'integer', isPromised: true, isKey: true }]])),
  ],
  sources: landedDays,
  select: async (database, batch) => {
    const documented = await documentedOf(database, batch.resource)
    if (!(await takeStrangeItems(database, batch, documented))) return NO_FINDINGS
    await takeSuspects(database, batch.resource, documented)
    return findingsSql(database)
  },
}

async function landedDays({ ledger }: NormalizeOptions): Promise<DaySource[]> {
  const landed = [...ledger.values()].flatMap(({ resource, day, file, status }) =>
    file === null || status !== 'landed' ? [] : [{ resource, day, files: [file] }],
  )
  return Promise.resolve(landed)
}

async function documentedOf(database: Database, resource: string): Promise<Documented> {
  const { rows } = await database.table(fill(FIELDS, { resource: literal(resource) }))
  const documented = new Map<string, Map<string, Field>>()
  for (const [object, field, type, isPromised, isKey] of rows) {
    if (typeof object !== 'string' || typeof field !== 'string' || !isFieldType(type)) continue
    const fields = documented.get(object) ?? new Map<string, Field>()
    documented.set(
      object,
      fields.set(field, { type, isPromised: isPromised === true, isKey: isKey === true }),
    )
  }
  return documented
}

const FIELD_TYPES: readonly unknown[] = [
  'integer',
  'decimal',
  'number',
  'string',
  'boolean',
  'array',
  'object',
  'any',
]

function isFieldType(value: unknown): value is FieldType {
  return FIELD_TYPES.includes(value)
}

/** Makes the view `items` of those that may be otherwise. False when every item is as documented. */
async function takeStrangeItems(
  database: Database,
  { days, read }: DayBatch,
  documented: Documented,
): Promise<boolean> {
  const readBack = await readBackSql(database, documented)
  const { rows } = await database.table(fill(STRANGE, { read_back: readBack }))
  if (rows.length === 0) return false
  const strange = new Set(rows.map(([day]) => day))
  await read(days.filter(({ day }) => strange.has(day)))
  const isWhole = rows.every(([, isWholeDay]) => isWholeDay === true)
  const bytes = rows.reduce((sum, [, , ofDay]) => sum + Number(ofDay), 0)
  const select = fill(STRANGE_ITEMS, { read_back: readBack })
  await database.run(fill(ITEMS, { strange: await strangeItems(database, select, isWhole, bytes) }))
  return true
}

/** Strange items up to this size are gathered: otherwise each kind of object in them is a pass over all items. */
const GATHERED_BYTES = 8 * 2 ** 20

/** A relation of the strange items. Without a filter where it can be: one would gather items of megabytes. */
async function strangeItems(
  database: Database,
  select: string,
  isWhole: boolean,
  bytes: number,
): Promise<string> {
  if (isWhole) return 'raw'
  if (bytes > GATHERED_BYTES) return `(${select}) as strange`
  await database.run(`create or replace temp table strange_items as ${select}`)
  return 'strange_items'
}

async function readBackSql(database: Database, documented: Documented): Promise<string> {
  const { shape, conditions } = shapeOf(documented, await sampleOf(database, documented))
  return fill(READ_BACK, {
    shape: literal(shape),
    has_numbers: ['true', ...conditions].join(' and '),
    unnamed: literal(unnamedPattern(documented)),
  })
}

/** A key that is null or empty, as it is spelled in an item. */
function unnamedPattern(documented: Documented): string {
  const keys = [...documented.values()].flatMap(keysOf)
  return `"(${[...new Set(keys)].join('|')})"\\s*:\\s*(null|"")`
}

function keysOf(fields: Fields): string[] {
  return [...fields].flatMap(([field, { isKey }]) => (isKey ? [field] : []))
}

/** The fields of the objects of an item, by their kind; none of those that it has none of. */
async function sampleOf(database: Database, documented: Documented): Promise<Sample> {
  const kinds = [...documented.keys()]
  const fields = kinds.map((kind) => {
    const path = literal(kind.replaceAll('[]', '[*]'))
    const first = /\[\]|\*/.test(kind) ? '[1]' : ''
    return `try(json_keys(json_extract(item, ${path})${first}))`
  })
  const { rows } = await database.table(fill(SAMPLE, { fields: fields.join(', ') }))
  const found = rows[0]?.[0]
  return new Map(
    kinds.flatMap((kind, at) => {
      const keys = Array.isArray(found) ? (found as readonly Cell[])[at] : null
      return Array.isArray(keys) ? [[kind, keys.map(String)] as const] : []
    }),
  )
}

/** Makes the table `suspects` from the shapes of all objects in the items. */
async function takeSuspects(
  database: Database,
  resource: string,
  documented: Documented,
): Promise<void> {
  await database.run(SHAPES_TABLE)
  for (const [object, fields] of documented) {
    if (fields.get('')?.type !== 'any') await database.run(shapesSql(object, fields))
  }
  await database.run(fill(SUSPECTS, { resource: literal(resource) }))
}

async function findingsSql(database: Database): Promise<string> {
  const suspects = new Map<string, { keys: Set<string>; places: Set<string> }>()
  for (const [object, key, place] of (await database.table(SUSPECT_OBJECTS)).rows) {
    if (typeof object !== 'string' || typeof key !== 'string' || typeof place !== 'string') continue
    const suspect = suspects.get(object) ?? { keys: new Set(), places: new Set() }
    suspects.set(object, suspect)
    suspect.keys.add(key)
    suspect.places.add(place)
  }
  const served = [...suspects].flatMap(([object, { keys, places }]) => {
    const values = {
      object: literal(object),
      objects: objectsSql(object),
      places: `[${[...places].join()}]`,
      keys: listLiteral([...keys]),
      pointers: listLiteral([...keys].map(pointer)),
    }
    return [fill(SERVED, values), ...(keys.has('') ? [fill(SERVED_WHOLE, values)] : [])]
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

/** Whether all keys of an object are missing, null or empty; never where it needs none. */
function unnamedSql(keys: readonly string[]): string {
  if (keys.length === 0) return 'false'
  const values = keys.map(
    (key) => `nullif(json_extract_string(object, ${literal(`$.${key}`)}), '')`,
  )
  return `coalesce(${values.join(', ')}) is null`
}

/** Whether a number that is read as a double may be read otherwise by base. */
function inexactSql(number: string, type: FieldType): string {
  if (type === 'number') return 'false'
  const whole = type === 'integer' ? `trunc(${number})` : `round(${number}, 6)`
  return `${number} <> ${whole} or abs(${number}) > ${MAX_EXACT}`
}

/** Conditions as one integer, the first the lowest bit; `otherwise` where one is NULL. */
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

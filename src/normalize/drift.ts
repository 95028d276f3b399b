import { identifier, listLiteral, literal, type Database } from '../lib/duckdb.ts'
import { statement, fill } from '../lib/package.ts'
import { DAYS, daysSql, RAW, type DaySource } from './batch.ts'
import {
  keysOf,
  NO_FIELDS,
  type Documented,
  type Field,
  type Fields,
  type FieldType,
} from './documented.ts'
import { MACROS } from './macros.ts'
import type { BaseEntity, NormalizeOptions } from './plan.ts'
import { REPEATED_STATEMENTS, takeRepeated } from './repeated.ts'
import { STRANGE_STATEMENTS, takeStrangeItems, type Strangeness } from './strange.ts'

const FIELDS = statement('drift/fields')
const OBJECTS_ITEM = statement('drift/objects_item')
const OBJECTS_PART = statement('drift/objects_part')
const OBJECTS_ELEMENTS = statement('drift/objects_elements')
const SHAPES = statement('drift/shapes')
const SUSPECTS = statement('drift/suspects')
const FINDINGS = statement('drift/findings')
const NO_FINDINGS = statement('drift/no_findings')
const OVERFLOWS = statement('drift/overflows')
const SERVED = statement('drift/served')
const SERVED_WHOLE = statement('drift/served_whole')
const SERVED_NOTHING = statement('drift/served_nothing')
const SUSPECT_OBJECTS = statement('drift/suspect_objects')
/** What its statements need on a connection, once. */
export const EXPECTED = [statement('drift/expected'), statement('drift/macros')].join(';\n')

/** Types of which an object's numbers are read to see whether base reads them as they are. */
const NUMBER_TYPES: readonly FieldType[] = ['integer', 'decimal', 'number']

/** Integers to here are exact as doubles; beyond it the text itself has to be looked at. */
const MAX_EXACT = '9007199254740992'
const MAX_COUNT = '9223372036854775807'

/**
 * Where the rows served are not as documented (`sql/drift/expected.sql`): fields
 * that are unknown, missing or of another type, numbers that the base cannot
 * read as they are, and rows that others of their key displace. Items that come back from the documented shape as they were
 * are done with, and of those that all come back from another one the first is
 * looked at; of the others, objects of one shape are looked at once.
 */
export const SCHEMA_DRIFT: BaseEntity = {
  name: 'schema_drift',
  resource: null,
  isOfParsed: false,
  madeBy: 'schema_drift',
  statements: () =>
    [
      ...[MACROS, RAW, DAYS, EXPECTED],
      ...STRANGE_STATEMENTS,
      ...REPEATED_STATEMENTS,
      ...[OBJECTS_ITEM, OBJECTS_PART, OBJECTS_ELEMENTS, SHAPES, SUSPECTS, SUSPECT_OBJECTS],
      ...[SERVED, SERVED_WHOLE, FINDINGS, OVERFLOWS],
      shapesSql('$', new Map([['count', { type: 'integer', isPromised: true, isKey: true }]])),
    ].join('\n'),
  sources: landedDays,
  select: async (database, batch) => {
    await batch.read(batch.days)
    const overflows = await takeOverflows(database, batch.resource)
    const documented = await documentedOf(database, batch.resource)
    const repeated = await takeRepeated(database, batch, documented)
    const found = [overflows, repeated]
    const strangeness = await takeStrangeItems(database, batch, documented)
    if (strangeness !== 'none') {
      await takeSuspects(database, batch.resource, documented, strangeness)
      found.unshift(await findingsSql(database))
    }
    return daysSql(batch, union(found))
  },
}

function landedDays({ ledger }: NormalizeOptions): DaySource[] {
  return [...ledger.values()].flatMap(({ resource, day, file, status }) =>
    file === null || status !== 'landed' ? [] : [{ resource, day, files: [file] }],
  )
}

/** The resource of which base adds up repeated entries of one day. */
const SUMMED = 'tokens'

/** The select of sums that do not fit. To be called while `raw` holds all days. */
async function takeOverflows(database: Database, resource: string): Promise<string> {
  if (resource !== SUMMED) return NO_FINDINGS
  await database.run(OVERFLOWS)
  return 'from overflows'
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

/** Makes the table `suspects` from the shapes of the objects in the items. */
async function takeSuspects(
  database: Database,
  resource: string,
  documented: Documented,
  strangeness: Strangeness,
): Promise<void> {
  const shapes = [...documented].flatMap(([object, fields]) =>
    fields.get('')?.type === 'any' || (object !== '$' && strangeness === 'own fields')
      ? []
      : [shapesSql(object, fields)],
  )
  await database.run(`create or replace temp table shapes as ${union(shapes)}`)
  await database.run(fill(SUSPECTS, { resource: literal(resource) }))
}

/** Where objects of one kind have to be examined. */
interface Suspect {
  readonly keys: Set<string>
  readonly places: Set<string>
  /** Whether the object itself is to be examined. */
  isItself: boolean
}

async function findingsSql(database: Database): Promise<string> {
  const suspects = new Map<string, Suspect>()
  for (const [object, key, place] of (await database.table(SUSPECT_OBJECTS)).rows) {
    if (typeof object !== 'string' || typeof place !== 'string') continue
    const suspect = suspects.get(object) ?? { keys: new Set(), places: new Set(), isItself: false }
    suspects.set(object, suspect)
    suspect.places.add(place)
    if (typeof key === 'string') suspect.keys.add(key)
    else suspect.isItself = true
  }
  const served = [...suspects].flatMap(([object, { keys, places, isItself }]) => {
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

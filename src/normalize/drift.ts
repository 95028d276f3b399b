import { identifier, literal, type Database } from '../store/duckdb.ts'
import { statement } from '../store/root.ts'
import { fill } from '../store/template.ts'
import type { DayEntity, DaySource } from './by-day.ts'
import {
  NO_FIELDS,
  shapeOf,
  type Documented,
  type Field,
  type Fields,
  type FieldType,
} from './documented.ts'
import { tellOfNews } from './drift-news.ts'
import type { NormalizeOptions } from './plan.ts'

const FIELDS = statement('drift/fields')
const ITEMS = statement('drift/items')
const OBJECTS_ITEM = statement('drift/objects_item')
const OBJECTS_PART = statement('drift/objects_part')
const OBJECTS_ELEMENTS = statement('drift/objects_elements')
const SHAPES_TABLE = statement('drift/shapes_table')
const SHAPES = statement('drift/shapes')
const SUSPECTS = statement('drift/suspects')
const FINDINGS = statement('drift/findings')
const NO_FINDINGS = statement('drift/no_findings')
const EXPECTED = [statement('drift/expected'), statement('drift/accepted_types')].join(';\n')

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
    ...[ITEMS, OBJECTS_ITEM, OBJECTS_PART, OBJECTS_ELEMENTS, SHAPES, SUSPECTS, FINDINGS],
    shapesSql('$', new Map([['count', { type: 'integer', isPromised: true }]])),
  ],
  sources: landedDays,
  select: async (database, { resource }) => {
    const documented = await documentedOf(database, resource)
    if (!(await takeStrangeItems(database, documented))) return NO_FINDINGS
    await takeSuspects(database, resource, documented)
    if ((await countOf(database, 'suspects')) === 0) return NO_FINDINGS
    const objects = [...documented.keys()].map(
      (object) =>
        `select ${literal(object)} as object_path, *\nfrom (\n${objectsSql(object, 'suspect_items')})`,
    )
    return fill(FINDINGS, { objects: objects.join('\nunion all\n') })
  },
  beforeWrite: tellOfNews,
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
  for (const [object, field, type, isPromised] of rows) {
    if (typeof object !== 'string' || typeof field !== 'string' || !isFieldType(type)) continue
    const fields = documented.get(object) ?? new Map<string, Field>()
    documented.set(object, fields.set(field, { type, isPromised: isPromised === true }))
  }
  return documented
}

const FIELD_TYPES: readonly unknown[] = ['integer', 'number', 'string', 'array', 'object']

function isFieldType(value: unknown): value is FieldType {
  return FIELD_TYPES.includes(value)
}

/** Makes the table `items`. False when every item is as documented. */
async function takeStrangeItems(database: Database, documented: Documented): Promise<boolean> {
  const [sample] = (await database.table('select item from raw limit 1')).rows.flat().map(String)
  if (sample === undefined) return false
  await database.run(fill(ITEMS, { shape: literal(shapeOf(documented, sample)) }))
  return (await countOf(database, 'items')) > 0
}

/** Makes the table `suspects` from the shapes of all objects in the items. */
async function takeSuspects(
  database: Database,
  resource: string,
  documented: Documented,
): Promise<void> {
  await database.run(SHAPES_TABLE)
  for (const [object, fields] of documented) await database.run(shapesSql(object, fields))
  await database.run(fill(SUSPECTS, { resource: literal(resource) }))
}

function shapesSql(object: string, fields: Fields): string {
  const numbers = [...fields].filter(
    ([field, { type }]) => (type === 'integer' || type === 'number') && field !== '*',
  )
  const shape = Object.fromEntries(numbers.map(([field]) => [field, 'DOUBLE']))
  const columns = numbers.map(([field, { type }]) => ({
    number: `numbers.${identifier(field)}`,
    isCount: type === 'integer',
  }))
  return fill(SHAPES, {
    object: literal(object),
    objects: objectsSql(object, 'items'),
    numbers: literal(JSON.stringify(numbers.length === 0 ? NO_FIELDS : shape)),
    unread: bits(
      columns.map(({ number, isCount }) =>
        isCount ? `abs(${number}) >= ${MAX_COUNT}` : `not isfinite(${number})`,
      ),
      true,
    ),
    inexact: bits(
      columns.map(({ number, isCount }) =>
        isCount ? `${number} <> trunc(${number}) or abs(${number}) > ${MAX_EXACT}` : 'false',
      ),
      false,
    ),
  })
}

/** Conditions as one integer, the first the lowest bit; `otherwise` where one is NULL. */
function bits(conditions: readonly string[], otherwise: boolean): string {
  const terms = conditions.map(
    (condition, bit) => `(cast(coalesce(${condition}, ${otherwise}) as bigint) << ${bit})`,
  )
  return terms.length === 0 ? 'cast(0 as bigint)' : terms.join(' | ')
}

function objectsSql(object: string, items: string): string {
  if (object === '$') return fill(OBJECTS_ITEM, { items })
  const template = object.endsWith('[]') ? OBJECTS_ELEMENTS : OBJECTS_PART
  return fill(template, { items, path: literal(object.replaceAll('[]', '[*]')) })
}

async function countOf(database: Database, table: string): Promise<number> {
  const [row] = await database.rows(`select count(*) as rows from ${table}`)
  return Number(row?.['rows'] ?? 0)
}

import { z } from 'zod'
import { identifier, listLiteral, literal, type Database } from '../lib/duckdb.ts'
import { grouped } from '../lib/grouped.ts'
import { statement, fill } from '../lib/package.ts'
import {
  BATCH_STATEMENTS,
  hasRows,
  MACROS,
  parsedSql,
  type BaseEngine,
  type DayBatch,
} from './batch.ts'
import { keysOf, NO_FIELDS, type Fields, type FieldType } from './documented.ts'
import {
  currentDays,
  digestOfStatements,
  type BaseEntity,
  digestOf,
  type NormalizeOptions,
} from './base-plan.ts'
import { join } from 'node:path'
import { pathSegment, readJson, writeAtomic } from '../lib/files.ts'
import { baseFile } from '../lake/layout.ts'
import { warner } from '../lib/world.ts'
import type { BaseFiles } from './state.ts'

/** The statements in `sql/drift` that decide the rows. */
const STATEMENTS = [
  ...['sample', 'strange', 'repeated', 'expected', 'items', 'objects_item', 'objects_part'],
  ...['objects_elements', 'shapes', 'candidates', 'candidate_objects', 'served', 'served_whole'],
  ...['findings', 'overflows'],
]

/** Types whose numbers are checked for whether base reads them exactly. */
const NUMBER_TYPES: readonly FieldType[] = ['integer', 'decimal', 'number']

/** Integers up to this are exact as doubles; larger ones are checked in the text. */
const MAX_EXACT = '9007199254740992'
const MAX_COUNT = '9223372036854775807'

/**
 * Where served rows differ from the documentation (`sql/drift/expected.sql`): unknown or missing
 * fields, other types, numbers that base cannot read exactly, and rows displaced by others with
 * the same key. If the most frequent shape is the documented one, items that round-trip through it
 * are not examined; if it is another, the first of a day is. For all others, one object of each
 * shape is examined.
 */
export const SCHEMA_DRIFT: BaseEntity = {
  name: 'schema_drift',
  resource: null,
  errorLabel: 'schema_drift',
  statementsDigest: digestOfStatements(() => [
    ...[MACROS, ...BATCH_STATEMENTS, ...STATEMENTS.map((name) => statement(`drift/${name}`))],
    parsedSql('users'),
    shapesSql('$', new Map([['count', { type: 'integer', isPromised: true, isKey: true }]])),
  ]),
  sources: (options) => currentDays(options, ({ status }) => status === 'landed'),
  prepareAndSelect: async (batch) => {
    const { database } = batch
    const nothing = statement('drift/no_findings')
    if (batch.days.length === 0) return batch.daysSql(nothing)
    const repeated = batch.repeatedSql()
    const hasLarge = await hasRows(database, 'select 1 from parsed where has_large_numbers')
    const hasCandidates = await makeCandidates(batch)
    return batch.daysSql(
      union([
        hasCandidates ? await findingsSql(database) : nothing,
        ...(hasLarge ? [`from (${statement('drift/overflows')})`] : []),
        ...(repeated === null ? [] : [`from (${repeated})`]),
      ]),
    )
  },
}

/** Up to this size, or if all items are short, items are read once, into a table. */
const READ_ONCE_BYTES = 8 * 2 ** 20
const SHORT_ITEM_BYTES = 16 * 2 ** 10

/**
 * Creates `candidates` from the items that may differ from the documentation. Returns false, and
 * creates nothing, if there are none.
 */
async function makeCandidates({ database, resource, documented }: DayBatch): Promise<boolean> {
  const { rows } = await database.table(statement('drift/strange_sizes'))
  const [bytes, longest, hasUnlike] = rows[0] ?? []
  if (Number(bytes ?? 0) === 0) return false
  const isReadOnce = Number(bytes) <= READ_ONCE_BYTES || Number(longest) <= SHORT_ITEM_BYTES
  if (documented.size === 0) throw new Error(`nothing of ${resource} is in drift/expected.sql`)
  const relation = isReadOnce ? 'table gathered_items' : 'view items'
  await database.run(fill(statement('drift/items'), { relation }))
  if (isReadOnce) await database.run('create or replace temp view items as from gathered_items')
  const shapes = [...documented].flatMap(([object, fields]) =>
    fields.get('')?.type === 'any' || (object !== '$' && hasUnlike !== true)
      ? []
      : [shapesSql(object, fields)],
  )
  await database.run(`create or replace temp table shapes as ${union(shapes)}`)
  await database.run(fill(statement('drift/candidates'), { resource: literal(resource) }))
  return true
}

const candidateRows = z.array(
  z.object({ object: z.string(), key: z.string().nullable(), place: z.string() }),
)

async function findingsSql(database: Database): Promise<string> {
  const rows = candidateRows.parse(await database.rows(statement('drift/candidate_objects')))
  const served = [...grouped(rows, ({ object }) => object)].flatMap(([object, found]) => {
    const keys = [...new Set(found.flatMap(({ key }) => key ?? []))]
    const values = {
      object: literal(object),
      objects: objectsSql(object),
      places: `[${[...new Set(found.map(({ place }) => place))].join()}]`,
      keys: listLiteral(keys),
      pointers: listLiteral(keys.map(pointer)),
    }
    const isItself = found.some(({ key }) => key === null) // the object itself is to be examined
    return [
      ...(keys.length === 0 ? [] : [fill(statement('drift/served'), values)]),
      ...(isItself ? [fill(statement('drift/served_whole'), values)] : []),
    ]
  })
  return fill(statement('drift/findings'), {
    served: union([statement('drift/served_nothing'), ...served]),
  })
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
  return fill(statement('drift/shapes'), {
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
  if (object === '$') return statement('drift/objects_item')
  const name = /\[\]|\*/.test(object) ? 'objects_elements' : 'objects_part'
  return fill(statement(`drift/${name}`), { path: literal(object.replaceAll('[]', '[*]')) })
}

function union(selects: readonly string[]): string {
  return selects.join('\nunion all\n')
}

/** Differences beyond this number are reported in one line. */
const REPORTED = 10

/** What the keys of its base files begin with. */
const DRIFT = `${SCHEMA_DRIFT.name}/`

/** A reported difference, and the last day on which it was known to occur. */
const reported = z.object({ key: z.string(), until: z.string() })

/** All reported differences, and the digest of the files that they were in. */
const state = z
  .object({ files: z.string(), reported: z.array(reported) })
  .catch({ files: '', reported: [] })

/** The message is null where there is nothing new. */
const newsRow = reported.extend({ kind: z.string(), message: z.string().nullable() })

/**
 * Warns once of drift that is new or has returned, after all months are written: only then is it
 * known whether it is past. Applies only to the lake itself, not to samples or points in time.
 */
export async function reportDrift(
  { baseIn, dataFolder, orgId, emit }: NormalizeOptions,
  engine: BaseEngine,
  present: BaseFiles,
): Promise<void> {
  if (baseIn !== dataFolder) return
  const own = [...present].filter(([key]) => key.startsWith(DRIFT)).sort()
  if (own.length === 0) return
  const fileOf = (month: string): string => baseFile(dataFolder, orgId, SCHEMA_DRIFT.name, month)
  const path = join(dataFolder, 'state', 'drift', `${pathSegment(orgId)}.json`)
  const before = state.parse(await readJson(path, warner({ emit })))
  const files = digestOf(own.map(([key, { sha256 }]) => `${key} ${sha256}`))
  if (files === before.files) return
  const values = {
    org_id: literal(orgId),
    reported: `from_json(${literal(JSON.stringify(before.reported))}, '[{"key": "VARCHAR", "until": "DATE"}]')`,
    files: listLiteral(own.map(([key]) => fileOf(key.slice(DRIFT.length)))),
  }
  const rows = await engine.use(({ database }) =>
    database.rows(fill(statement('drift/news'), values)),
  )
  const known = z.array(newsRow).parse(rows)
  const news = known.flatMap(({ kind, message }) => (message === null ? [] : [{ kind, message }]))
  for (const each of news.slice(0, REPORTED)) emit({ type: 'warning', about: 'drift', ...each })
  if (news.length > REPORTED) {
    const message = `${orgId}: ${news.length - REPORTED} more fields differ from the documentation; meta.schema_drift lists all`
    emit({ type: 'warning', message, about: 'drift', kind: 'more' })
  }
  const all = new Map([...before.reported, ...known].map(({ key, until }) => [key, { key, until }]))
  await writeAtomic(path, `${JSON.stringify({ files, reported: [...all.values()] }, null, 1)}\n`)
}

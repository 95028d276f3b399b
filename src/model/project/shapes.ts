import { z } from 'zod'
import { recordsOf } from '../../lib/csv.ts'

/**
 * The shapes of the project's yml files: dbt's, in strict form (custom keys
 * only under `config.meta`, tests under `data_tests`, their arguments under
 * `arguments`). A key that the runner does not support is refused, not ignored.
 */

const NAME = /^[a-z_][a-z0-9_]*$/
const REF = /^ref\(\s*['"](\w+)['"]\s*\)$/
const name = z.string().regex(NAME, 'a name consists of lower case letters, digits and _')
const text = z.string().trim().min(1)
const description = z.string().trim().min(1, 'must not be empty')
const meta = z.record(z.string(), z.unknown())
const modelRef = z
  .string()
  .regex(REF, "write ref('model_name')")
  .transform((to) => to.replace(REF, '$1'))
/** YAML reads numbers as doubles, so a longer integer would be another one. */
const exactNumber = z
  .number()
  .refine(
    (value) => !Number.isInteger(value) || Number.isSafeInteger(value),
    'write an integer beyond 2^53 in quotes',
  )
const texts = z.union([z.string().transform((text) => [text]), z.array(z.string())])

/** `config:`, `config(...)` and `+` keys of a model. */
export const modelConfigShape = z.strictObject({
  materialized: z
    .enum(
      ['view', 'table', 'incremental'],
      "the built-in runner supports 'view', 'table' and 'incremental'",
    )
    .optional(),
  schema: name.optional(),
  tags: texts.optional(),
  meta: meta.optional(),
  unique_key: texts.optional(),
  pre_hook: texts.optional(),
  incremental_strategy: z
    .literal('delete+insert', "the built-in runner supports the strategy 'delete+insert'")
    .optional(),
  on_schema_change: z
    .literal('fail', "write 'fail': the built-in runner always builds a changed model from scratch")
    .optional(),
  /** For dbt: the built-in runner always writes comments. */
  persist_docs: z.unknown().optional(),
})

export const seedConfigShape = modelConfigShape.pick({
  schema: true,
  tags: true,
  meta: true,
  persist_docs: true,
})

/** The types of a seed's columns, for dbt too. */
const seedType = z.enum(
  ['varchar', 'bigint', 'double', 'date', 'boolean'],
  "the type of a seed's column must be varchar, bigint, double, date or boolean",
)

/** The config of a test, in yml or with `config(...)`, and of all tests of a project. */
export const testConfigShape = z.strictObject({
  severity: z.enum(['error', 'warn']).optional(),
  store_failures: z.boolean().optional(),
  schema: name.optional(),
})

export type TestConfig = z.output<typeof testConfigShape>

/** Each generic test with its arguments; its SQL is `sql/checks/<kind>.sql`. */
export const genericTestShape = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('unique') }),
  z.strictObject({ kind: z.literal('not_null') }),
  z.strictObject({
    kind: z.literal('accepted_values'),
    values: z.array(z.union([z.string(), exactNumber, z.boolean()])).min(1),
  }),
  z.strictObject({
    kind: z.literal(['relationships', 'relationships_in_org']),
    to: modelRef,
    field: name,
  }),
  z.strictObject({ kind: z.literal('unique_key'), columns: z.array(name).min(1) }),
])

export type TestArguments = z.output<typeof genericTestShape>

/** The kinds of generic tests of a column, and of a model. */
export const columnTests: readonly string[] = [
  'unique',
  'not_null',
  'accepted_values',
  'relationships',
  'relationships_in_org',
]
export const modelTests: readonly string[] = ['unique_key']

const testBody = z.strictObject({
  name: name.optional(),
  arguments: z.record(z.string(), z.unknown()).default({}),
  config: testConfigShape.default({}),
})

/** `unique`, or `unique: {…}`: both become [kind, body]. */
const test = z.preprocess(
  (value) => (typeof value === 'string' ? { [value]: {} } : value),
  z
    .record(
      z.string(),
      z.preprocess((body) => body ?? {}, testBody),
    )
    .refine((value) => Object.keys(value).length === 1, 'one test per item'),
)

const column = z.strictObject({
  name,
  description,
  config: z.strictObject({ meta: meta.default({}) }).default({ meta: {} }),
  data_tests: z.array(test).default([]),
})

const described = z.strictObject({
  name,
  description,
  columns: z.array(column).min(1),
  data_tests: z.array(test).default([]),
})

const model = described.extend({ config: modelConfigShape.default({}) })

const seed = described.extend({
  config: seedConfigShape.extend({ column_types: z.record(name, seedType) }),
})

const snapshot = described.extend({
  relation: modelRef,
  config: seedConfigShape.extend({
    strategy: z.literal('check', "the built-in runner supports the strategy 'check'"),
    unique_key: texts,
    /** A row has changed if one of these columns has. */
    check_cols: z.array(name).min(1),
    /** What happens to rows that disappeared: they stay as they are, or end. */
    hard_deletes: z
      .enum(['ignore', 'invalidate'], "the built-in runner supports 'ignore' and 'invalidate'")
      .default('ignore'),
  }),
})

/** In seconds. */
const period = z
  .strictObject({ count: z.int().positive(), period: z.enum(['minute', 'hour', 'day']) })
  .transform(({ count, period }) => count * { minute: 60, hour: 3600, day: 86_400 }[period])

/** dbt's; keys for its adapters are allowed and ignored. */
const sourceConfig = z.looseObject({
  freshness: z
    .strictObject({ warn_after: period.optional(), error_after: period.optional() })
    .optional(),
  loaded_at_field: text.optional(),
})

export type SourceConfig = z.output<typeof sourceConfig>

const sourceTable = z.strictObject({
  name,
  description: description.optional(),
  config: sourceConfig.default({}),
})

const source = z.strictObject({
  name,
  description: description.optional(),
  config: sourceConfig.default({}),
  tables: z.array(sourceTable).min(1),
})

const SOURCE = /^source\(\s*['"](\w+)['"]\s*,\s*['"](\w+)['"]\s*\)$/

const cell = z.union([z.string(), exactNumber, z.boolean(), z.null()])
const row = z.record(z.string(), cell)

const fixture = {
  rows: z.union([z.array(row), text], 'must be a list of maps, or a text'),
  format: z
    .enum(['dict', 'csv'], "the built-in runner supports the formats 'dict' and 'csv'")
    .default('dict'),
}

type Written = z.output<z.ZodObject<typeof fixture>>

function isOfItsFormat({ rows, format }: Written): boolean {
  return (format === 'dict') === (typeof rows !== 'string')
}

const formatRule = 'a list of maps needs the format dict, and a text the format csv'

/** Rows as maps. */
export type Fixture = readonly z.output<typeof row>[]

/** Parses a CSV text to maps; empty fields are NULL. */
function mapsOf(rows: Written['rows']): Fixture {
  if (typeof rows !== 'string') return rows
  const [header, ...records] = recordsOf(rows, ',', 'rows of a unit test')
  const cellOf = (text: string | undefined) => (text === '' || text === undefined ? null : text)
  return records.map(({ fields }) =>
    Object.fromEntries((header?.fields ?? []).map((name, at) => [name, cellOf(fields[at])])),
  )
}

/** What is read: the name of the model or `source.table`, and the text for errors. */
const unitTestInput = z.union(
  [
    modelRef.transform((name) => ({ kind: 'ref', name, text: `ref('${name}')` }) as const),
    z
      .string()
      .regex(SOURCE)
      .transform((text) => {
        const [, source = '', table = ''] = SOURCE.exec(text) ?? []
        const name = `${source}.${table}`
        return { kind: 'source', name, text: `source('${source}', '${table}')` } as const
      }),
  ],
  "write ref('model') or source('source', 'table')",
)

export type UnitTestInput = Readonly<z.output<typeof unitTestInput>>

const unitTest = z.strictObject({
  name,
  description: description.default(''),
  model: z.string(),
  given: z
    .array(
      z
        .strictObject({ input: unitTestInput, ...fixture })
        .refine(isOfItsFormat, formatRule)
        .transform(({ input, rows }) => ({ input, rows: mapsOf(rows) })),
    )
    .default([]),
  expect: z
    .strictObject(fixture)
    .refine(isOfItsFormat, formatRule)
    .transform(({ rows }) => mapsOf(rows)),
  overrides: z
    .strictObject({
      // dbt asks the database; the built-in runner makes the whole table
      macros: z.strictObject({ is_incremental: z.literal(false) }).optional(),
      vars: z.record(z.string(), z.unknown()).default({}),
    })
    .default({ vars: {} }),
})

/** Something outside of the project that reads its models, such as a report. */
const exposure = z.strictObject({
  name,
  label: text.nullable().default(null),
  type: z.enum(['dashboard', 'notebook', 'analysis', 'ml', 'application']),
  maturity: z.enum(['low', 'medium', 'high']).nullable().default(null),
  url: z.url().nullable().default(null),
  description,
  owner: z.strictObject({ name: text, email: z.email().optional() }),
  depends_on: z.array(modelRef).min(1),
})

/** A yml file under the model paths. */
export const propertiesShape = z.strictObject({
  version: z.literal(2).optional(),
  models: z.array(model).default([]),
  seeds: z.array(seed).default([]),
  snapshots: z.array(snapshot).default([]),
  sources: z.array(source).default([]),
  unit_tests: z.array(unitTest).default([]),
  exposures: z.array(exposure).default([]),
})

export type Properties = z.output<typeof propertiesShape>
export type ExposureProperties = z.output<typeof exposure>
export type UnitTestProperties = z.output<typeof unitTest>
export type DescribedProperties = z.output<typeof described>
export type SnapshotConfig = z.output<typeof snapshot>['config']
export type SeedType = z.output<typeof seedType>
export type TestEntry = z.output<typeof test>

const paths = (fallback: string) => z.array(z.string()).default([fallback])

/** `dbt_project.yml`. Keys that only dbt needs are allowed and ignored. */
export const projectShape = z.strictObject({
  name,
  version: z.union([z.string(), z.number()]).optional(),
  'config-version': z.literal(2).optional(),
  profile: z.string().optional(),
  'require-dbt-version': z.unknown().optional(),
  'model-paths': paths('models'),
  'test-paths': paths('tests'),
  'macro-paths': paths('macros'),
  'seed-paths': paths('seeds'),
  'snapshot-paths': paths('snapshots'),
  'target-path': z.string().optional(),
  'clean-targets': z.array(z.string()).optional(),
  flags: z.record(z.string(), z.unknown()).optional(),
  models: z.record(z.string(), z.unknown()).default({}),
  seeds: z.record(z.string(), z.unknown()).default({}),
  data_tests: z.record(z.string(), z.unknown()).default({}),
  vars: z.record(z.string(), z.unknown()).default({}),
})

const metricName = z
  .string()
  .regex(/^[a-z][a-z0-9_]*$/, 'a name consists of lower case letters, digits and _')
const sentence = z
  .string()
  .trim()
  .regex(/^[A-Z`].*\.$/s, 'write a sentence, with a full stop')
/** The kinds of expressions: a sum, a distinct count, a percentile. */
export const AGGREGATE =
  /^(?:(sum)\((.+)\)|(count)\(distinct (.+)\)|(percentile_cont)\((0\.\d+)\) within group \(order by (.+)\))$/s

const describedMetric = {
  name: metricName,
  label: text,
  unit: text,
  description: sentence,
  /** A common mistake in using it. */
  mistake: sentence,
}

const measure = z.strictObject({
  type: z.literal('measure'),
  ...describedMetric,
  model: metricName,
  /** The key columns of the model. */
  grain: z.array(metricName).min(1),
  time: metricName,
  expression: z
    .string()
    .trim()
    .regex(
      AGGREGATE,
      'write sum(…), count(distinct …) or percentile_cont(0.…) within group (order by …)',
    ),
  /** Whether the metric of a period is computed from all its rows, or from those of its last day. */
  period: z.enum(['whole', 'last_day']).default('whole'),
  /** Columns of the grain over which results may be summed. */
  adds_up_over: z.array(metricName),
})

const ratio = z.strictObject({
  type: z.literal('ratio'),
  ...describedMetric,
  numerator: metricName,
  denominator: metricName,
})

/** `metrics.yml`: the definitions of metrics on the marts. */
export const metricsShape = z.strictObject({
  metrics: z.array(z.discriminatedUnion('type', [measure, ratio])).min(1),
})

export type Measure = Readonly<z.output<typeof measure>>
type Ratio = Readonly<z.output<typeof ratio>>
export type Metric = Measure | Ratio

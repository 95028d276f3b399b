import { ProjectError, type Place } from './errors.ts'
import { unknownName } from './errors.ts'
import {
  columnTests,
  genericTestShape,
  modelTests,
  type DescribedProperties,
  type Properties,
  type Period,
  type SeedType,
  type SourceConfig,
  type TestArguments,
  type TestConfig,
  type TestEntry,
} from './shapes.ts'
import type {
  Column,
  FreshnessRule,
  GenericTest,
  ModelConfig,
  ModelNode,
  ModelSettings,
  Source,
  Snapshot,
  TestSettings,
  UnitTest,
} from './types.ts'
import type { Fixture } from './unit-test-shapes.ts'
import type { YamlFile } from './yaml.ts'

/** What one yml says of one model or seed. */
interface Note {
  readonly name: string
  readonly place: Place
  readonly description: string
  readonly columns: readonly Column[]
  readonly tests: readonly GenericTest[]
}

export interface ModelNote extends Note {
  readonly config: ModelConfig
}

export interface SeedNote extends ModelNote {
  readonly types: Readonly<Record<string, SeedType>>
}

/** @throws ProjectError at a test that is unknown, misplaced or has wrong arguments. */
export function modelNotes(file: YamlFile<Properties>, shared: TestConfig): ModelNote[] {
  return file.value.models.map((model, index) => ({
    ...noteOf(model, ['models', index], file, shared),
    config: model.config,
  }))
}

/** @throws ProjectError as for a model, and at a column without a type, or a type without a column. */
export function seedNotes(file: YamlFile<Properties>, shared: TestConfig): SeedNote[] {
  return file.value.seeds.map((seed, index) => {
    const note = noteOf(seed, ['seeds', index], file, shared)
    const { column_types: types, ...config } = seed.config
    refuseUntyped(note, types, (name) =>
      file.placeOf('seeds', index, 'config', 'column_types', name),
    )
    return { ...note, config, types }
  })
}

/** @throws ProjectError as for a model, and at a setting that names an unknown column. */
export function snapshotsOf(file: YamlFile<Properties>, shared: TestConfig): Snapshot[] {
  return file.value.snapshots.map((snapshot, index) => {
    const note = noteOf(snapshot, ['snapshots', index], file, shared)
    const { unique_key, updated_at = null, check_cols = [], hard_deletes } = snapshot.config
    const { schema, tags, meta } = settle([
      { schema: snapshot.config.schema, tags: snapshot.config.tags, meta: snapshot.config.meta },
    ])
    const named = [...unique_key, ...(updated_at === null ? [] : [updated_at])]
    const known = note.columns.map(({ name }) => name)
    for (const name of check_cols === 'all' ? named : [...named, ...check_cols]) {
      if (!known.includes(name)) throw unknownName(note.place, 'column', name, known)
    }
    return {
      name: note.name,
      file: note.place.file,
      description: note.description,
      columns: snapshotColumns(note),
      tests: note.tests,
      documented: note.place,
      config: { schema, tags, meta },
      of: snapshot.relation,
      rule: { unique_key, updated_at, check_cols, hard_deletes },
    }
  })
}

/** Columns that a snapshot has in addition to those of its source, named and filled as dbt does. */
const SNAPSHOT_COLUMNS: Readonly<Record<string, string>> = {
  dbt_scd_id: 'Names the row: a digest of its key and dbt_updated_at. Never NULL.',
  dbt_updated_at: 'When the row was so, as far as is known, UTC. Never NULL.',
  dbt_valid_from: 'From when on the row was so, UTC. Never NULL.',
  dbt_valid_to: 'Until when the row was so, UTC. NULL where it still is.',
}

/** The described columns, and those that every snapshot has. */
function snapshotColumns({ columns, place }: Note): Column[] {
  const bare = { additivity: null, meta: {}, place }
  const own = Object.entries(SNAPSHOT_COLUMNS)
    .filter(([name]) => columns.every((column) => column.name !== name))
    .map(([name, description]) => ({ name, description, ...bare }))
  return [...columns, ...own]
}

/** The columns that a test says are unique, together or one alone. */
export function keyOfTest({ column, arguments: test }: GenericTest): readonly string[] {
  if (test.kind === 'unique_key') return test.columns
  return test.kind === 'unique' && column !== null ? [column] : []
}

/** The columns that the yml says are unique, together or one alone. */
export function keyOf({ tests }: Pick<ModelNode, 'tests'>): readonly string[] {
  return tests.map(keyOfTest).find((key) => key.length > 0) ?? []
}

/** @throws ProjectError where rows to be expected do not all have the same columns. */
export function unitTestsOf(file: YamlFile<Properties>): UnitTest[] {
  return file.value.unit_tests.map(
    ({ name, description, model, given, expect, overrides }, index) => {
      refuseUneven(expect.rows, file.placeOf('unit_tests', index, 'expect'))
      return {
        name,
        description: description ?? '',
        model,
        given: given.map(({ input, rows }) => ({ input, rows })),
        expect: expect.rows,
        isIncremental: overrides.macros.is_incremental ?? false,
        vars: overrides.vars,
        place: file.placeOf('unit_tests', index),
      }
    },
  )
}

/** dbt puts the rows under one another as they are. */
function refuseUneven(rows: Fixture, place: Place): void {
  if (typeof rows === 'string') return
  const columns = Object.keys(rows[0] ?? {}).join(', ')
  const uneven = rows.find((row) => Object.keys(row).join(', ') !== columns)
  if (uneven === undefined) return
  const found = Object.keys(uneven).join(', ')
  throw new ProjectError(place, `one row has the columns ${columns}, another ${found}`, {
    hint: 'Write the same columns in the same order; null is a value.',
  })
}

function refuseUntyped(
  { columns }: Note,
  types: Readonly<Record<string, SeedType>>,
  placeOf: (name: string) => Place,
): void {
  const names = columns.map(({ name }) => name)
  for (const name of Object.keys(types)) {
    if (!names.includes(name)) throw unknownName(placeOf(name), 'column', name, names)
  }
  const bare = columns.find(({ name }) => types[name] === undefined)
  if (bare === undefined) return
  throw new ProjectError(bare.place, `column '${bare.name}' has no type`, {
    hint: `Write it under config.column_types of the seed: ${bare.name}: varchar.`,
  })
}

/** @throws ProjectError where a table has to be fresh, and it is not known when it was loaded. */
export function sourcesOf(file: YamlFile<Properties>): Source[] {
  return file.value.sources.map((source, index) => ({
    name: source.name,
    description: source.description ?? '',
    tables: source.tables.map((table) => table.name),
    descriptions: Object.fromEntries(
      source.tables.map((table) => [table.name, table.description ?? '']),
    ),
    freshness: source.tables.flatMap(({ name: table, config }, at) => {
      const place = file.placeOf('sources', index, 'tables', at)
      const rule = freshnessRule(table, [source.config, config], place)
      return rule === undefined ? [] : [rule]
    }),
    place: file.placeOf('sources', index),
  }))
}

const SECONDS = { minute: 60, hour: 3600, day: 86_400 }

function freshnessRule(
  table: string,
  configs: readonly SourceConfig[],
  place: Place,
): FreshnessRule | undefined {
  const limits = last(configs.map(({ freshness }) => freshness))
  if (limits === undefined || limits === null) return undefined
  const secondsOf = (period: Period): number | null =>
    period === undefined || period === null ? null : period.count * SECONDS[period.period]
  const loadedAtField = last(configs.map((config) => config.loaded_at_field)) ?? null
  const loadedAtQuery = last(configs.map((config) => config.loaded_at_query)) ?? null
  if (loadedAtField === null && loadedAtQuery === null) {
    throw new ProjectError(place, `it is not known when a row of '${table}' was loaded`, {
      hint: 'Name the column: config.loaded_at_field.',
    })
  }
  return {
    table,
    loadedAtField,
    loadedAtQuery,
    filter: limits.filter ?? null,
    warnAfterSeconds: secondsOf(limits.warn_after),
    errorAfterSeconds: secondsOf(limits.error_after),
    place,
  }
}

/** A later setting overrules an earlier one; tags, meta and hooks add up, as they do in dbt. */
export function settle(configs: readonly ModelConfig[]): ModelSettings {
  return {
    materialized: last(configs.map((config) => config.materialized)) ?? 'view',
    schema: last(configs.map((config) => config.schema)) ?? 'main',
    tags: [...new Set(configs.flatMap((config) => config.tags ?? []))],
    meta: configs.reduce((all, each) => ({ ...all, ...each.meta }), {}),
    unique_key: last(configs.map((config) => config.unique_key)) ?? [],
    pre_hook: configs.flatMap((config) => config.pre_hook ?? []),
  }
}

/** A later setting overrules an earlier one. The defaults are dbt's. */
export function testSettings(configs: readonly TestConfig[]): TestSettings {
  return {
    severity: last(configs.map((config) => config.severity)) ?? 'error',
    warn_if: last(configs.map((config) => config.warn_if)) ?? '!= 0',
    error_if: last(configs.map((config) => config.error_if)) ?? '!= 0',
    where: last(configs.map((config) => config.where)) ?? null,
    limit: last(configs.map((config) => config.limit)) ?? null,
    store_failures: last(configs.map((config) => config.store_failures)) ?? false,
    schema: last(configs.map((config) => config.schema)) ?? 'dbt_test__audit',
  }
}

function last<T>(values: readonly (T | undefined)[]): T | undefined {
  return values.findLast((value) => value !== undefined)
}

type Path = readonly PropertyKey[]

function noteOf(
  model: DescribedProperties,
  path: Path,
  file: YamlFile<Properties>,
  shared: TestConfig,
): Note {
  const columns = model.columns.map((column, index) => ({
    name: column.name,
    description: column.description,
    additivity: textOrNull(column.config.meta?.['additivity']),
    meta: column.config.meta ?? {},
    place: file.placeOf(...path, 'columns', index),
  }))
  refuseTwice(columns)
  const read = (entry: TestEntry, column: string | null, at: Path) =>
    genericTest(entry, { model: model.name, column, columns, place: file.placeOf(...at), shared })
  return {
    name: model.name,
    place: file.placeOf(...path),
    description: model.description,
    columns,
    tests: [
      ...model.data_tests.map((entry, at) => read(entry, null, [...path, 'data_tests', at])),
      ...model.columns.flatMap((column, index) =>
        column.data_tests.map((entry, at) =>
          read(entry, column.name, [...path, 'columns', index, 'data_tests', at]),
        ),
      ),
    ],
  }
}

interface TestContext {
  readonly model: string
  readonly column: string | null
  readonly columns: readonly Column[]
  readonly place: Place
  readonly shared: TestConfig
}

function genericTest(entry: TestEntry, context: TestContext): GenericTest {
  const [[kind, body] = ['', undefined]] = Object.entries(entry)
  const { column, place } = context
  const allowed = column === null ? modelTests : columnTests
  const what = column === null ? 'test of a model' : 'test of a column'
  if (!allowed.includes(kind)) throw unknownName(place, what, kind, allowed)
  const result = genericTestShape.safeParse({ ...body?.arguments, kind })
  if (!result.success) {
    const [issue] = result.error.issues
    const where = ['arguments', ...(issue?.path ?? [])].map(String).join('.')
    throw new ProjectError(place, `${kind}: ${where}: ${issue?.message ?? 'wrong'}`)
  }
  if (result.data.kind === 'unique_key') refuseUnknown(result.data.columns, context)
  return {
    name: body?.name ?? testName(result.data, context.model, context.column),
    column,
    ...testSettings([context.shared, body?.config ?? {}]),
    arguments: result.data,
    place,
  }
}

/** Close to dbt's names: `not_null_fct_org_day_org_id`. */
export function testName(test: TestArguments, model: string, column: string | null): string {
  const columns = test.kind === 'unique_key' ? test.columns : [column ?? '']
  return [test.kind, model, ...columns].join('_')
}

function refuseUnknown(names: readonly string[], context: TestContext): void {
  const known = context.columns.map((column) => column.name)
  for (const name of names) {
    if (!known.includes(name)) throw unknownName(context.place, 'column', name, known)
  }
}

function refuseTwice(columns: readonly Column[]): void {
  const seen = new Set<string>()
  for (const { name, place } of columns) {
    if (seen.has(name)) throw new ProjectError(place, `column '${name}' is there twice`)
    seen.add(name)
  }
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

import { ProjectError, requireKnown, type Place } from './errors.ts'
import { mergeSettings, testSettings } from './settings.ts'
import {
  columnTests,
  genericTestShape,
  modelTests,
  type DescribedProperties,
  type Properties,
  type SourceConfig,
  type TestArguments,
  type TestEntry,
} from './shapes.ts'
import type {
  Column,
  Described,
  Exposure,
  FreshnessRule,
  GenericTest,
  ModelConfig,
  Seed,
  Snapshot,
  Source,
  TestSettings,
  UnitTest,
} from './types.ts'
import type { YamlFile } from './yaml.ts'

/** The description of one model or seed in a yml. */
export interface Note extends Omit<Described, 'file'> {
  readonly config: ModelConfig
}

/** The place of a path in an item of a yml file, or of the item. */
type At = (...path: PropertyKey[]) => Place

/**
 * Interprets the yml files.
 *
 * @throws ProjectError for a test that is unknown, misplaced or has wrong arguments, for an
 * unknown column, and for anything that is described twice.
 */
export function notesIn(files: readonly YamlFile<Properties>[], shared: TestSettings) {
  const all = <Kind extends Exclude<keyof Properties, 'version'>, T>(
    kind: Kind,
    noteOf: (item: Properties[Kind][number], at: At) => T,
  ): T[] =>
    files.flatMap(({ value, placeOf }) => {
      const items: readonly Properties[Kind][number][] = value[kind]
      return items.map((item, index) => noteOf(item, (...path) => placeOf(kind, index, ...path)))
    })
  const notes = {
    models: all('models', ({ config, ...model }, at) => {
      return { ...describe(model, at, shared), config }
    }),
    seeds: all('seeds', ({ config: { column_types: types, ...config }, ...seed }, at) => {
      const note = describe(seed, at, shared)
      refuseUntyped(note.columns, types, (name) => at('config', 'column_types', name))
      return { ...note, config, types }
    }),
    snapshots: all('snapshots', (snapshot, at) => snapshotOf(snapshot, at, shared)),
    sources: all('sources', sourceOf),
    unitTests: all('unit_tests', unitTestOf),
    exposures: all('exposures', ({ depends_on: dependsOn, ...item }, at): Exposure => {
      return { ...item, dependsOn, place: at('depends_on') }
    }),
  }
  refuseTwice('model', notes.models)
  refuseTwice('seed', notes.seeds)
  refuseTwice('source', notes.sources)
  refuseTwice('unit test', notes.unitTests)
  refuseTwice('exposure', notes.exposures)
  return notes
}

function refuseTwice(
  what: string,
  described: readonly { readonly name: string; readonly place: Place }[],
): void {
  const names = described.map(({ name }) => name)
  const twin = described.find(({ name }, index) => names.indexOf(name) < index)
  if (twin === undefined) return
  throw new ProjectError(twin.place, `${what} '${twin.name}' is described twice`)
}

function describe(
  { name, description, columns: described, data_tests: tests }: DescribedProperties,
  at: At,
  shared: TestSettings,
): Omit<Note, 'config'> {
  const columns = described.map(({ name, description, config: { meta } }, index): Column => {
    const additivity = typeof meta['additivity'] === 'string' ? meta['additivity'] : null
    const place = at('columns', index)
    if (described.findIndex((each) => each.name === name) < index) {
      throw new ProjectError(place, `column '${name}' appears twice`)
    }
    return { name, description, additivity, meta, place }
  })
  const read = (entry: TestEntry, column: string | null, place: Place) =>
    genericTest(entry, { name, columns }, column, place, shared)
  return {
    name,
    description,
    columns,
    tests: [
      ...tests.map((entry, index) => read(entry, null, at('data_tests', index))),
      ...described.flatMap((column, index) =>
        column.data_tests.map((entry, test) =>
          read(entry, column.name, at('columns', index, 'data_tests', test)),
        ),
      ),
    ],
    place: at(),
  }
}

function genericTest(
  entry: TestEntry,
  model: Pick<Note, 'name' | 'columns'>,
  column: string | null,
  place: Place,
  shared: TestSettings,
): GenericTest {
  const [[kind, body] = ['', undefined]] = Object.entries(entry)
  const [allowed, what] =
    column === null ? [modelTests, 'test of a model'] : [columnTests, 'test of a column']
  requireKnown(place, what, kind, allowed)
  const result = genericTestShape.safeParse({ ...body?.arguments, kind })
  if (!result.success) {
    const [issue] = result.error.issues
    const where = ['arguments', ...(issue?.path ?? [])].map(String).join('.')
    throw new ProjectError(place, `${kind}: ${where}: ${issue?.message ?? 'wrong'}`)
  }
  if (result.data.kind === 'unique_key') refuseUnknown(result.data.columns, model.columns, place)
  return {
    name: body?.name ?? testName(result.data, model.name, column),
    column,
    ...testSettings(shared, body?.config ?? {}),
    arguments: result.data,
    place,
  }
}

export function referenceOf(test: TestArguments) {
  if (test.kind === 'relationships') return { model: test.to, columns: [test.field] }
  if (test.kind !== 'relationships_in_org') return undefined
  return { model: test.to, columns: ['org_id', test.field] }
}

/** Close to dbt's names: `not_null_fct_org_day_org_id`. */
export function testName(test: TestArguments, model: string, column: string | null): string {
  const columns = test.kind === 'unique_key' ? test.columns : [column ?? '']
  return [test.kind, model, ...columns].join('_')
}

/** The columns, one or several together, that a test declares unique. */
export function keyOfTest({ column, arguments: test }: GenericTest): readonly string[] {
  if (test.kind === 'unique_key') return test.columns
  return test.kind === 'unique' && column !== null ? [column] : []
}

/** The columns, one or several together, that the yml declares unique. */
export function keyColumns({ tests }: Pick<Described, 'tests'>): readonly string[] {
  return tests.map(keyOfTest).find((key) => key.length > 0) ?? []
}

function snapshotOf(item: Properties['snapshots'][number], at: At, shared: TestSettings): Snapshot {
  const { schema, tags, meta, unique_key, check_cols, hard_deletes } = item.config
  const note = describe(item, at, shared)
  refuseUnknown([...unique_key, ...check_cols], note.columns, note.place)
  return {
    ...note,
    file: note.place.file,
    config: mergeSettings([{ schema, tags, meta }]),
    of: item.relation,
    rule: { unique_key, check_cols, hard_deletes },
  }
}

/** The expected rows must have equal columns, because dbt unites them by position. */
function unitTestOf(test: Properties['unit_tests'][number], at: At): UnitTest {
  const [columns = '', ...others] = test.expect.map((row) => Object.keys(row).join(', '))
  const uneven = others.find((names) => names !== columns)
  if (uneven !== undefined) {
    const problem = `one row has the columns ${columns}, another ${uneven}`
    throw new ProjectError(at('expect'), problem, {
      hint: 'Write the same columns in the same order; null is a value.',
    })
  }
  return { ...test, place: at() }
}

function refuseUntyped(
  columns: readonly Column[],
  types: Seed['types'],
  placeOf: (name: string) => Place,
): void {
  for (const name of Object.keys(types)) refuseUnknown([name], columns, placeOf(name))
  const untyped = columns.find(({ name }) => types[name] === undefined)
  if (untyped === undefined) return
  throw new ProjectError(untyped.place, `column '${untyped.name}' has no type`, {
    hint: `Write it under config.column_types of the seed: ${untyped.name}: varchar.`,
  })
}

function refuseUnknown(names: readonly string[], columns: readonly Column[], place: Place): void {
  const known = columns.map(({ name }) => name)
  for (const name of names) requireKnown(place, 'column', name, known)
}

/** @throws ProjectError for a freshness rule without the column of the loading time. */
function sourceOf(source: Properties['sources'][number], at: At): Source {
  const { name, description = '', config: shared, tables } = source
  return {
    name,
    description,
    tables: tables.map(({ name, description = '', config }, index) => ({
      name,
      description,
      freshness: freshnessRule(name, { ...shared, ...config }, at('tables', index)),
    })),
    place: at(),
  }
}

function freshnessRule(
  table: string,
  { freshness, loaded_at_field: loadedAtField }: SourceConfig,
  place: Place,
): FreshnessRule | null {
  if (freshness === undefined) return null
  if (loadedAtField === undefined) {
    throw new ProjectError(place, `it is not known when a row of '${table}' was loaded`, {
      hint: 'Name the column: config.loaded_at_field.',
    })
  }
  const { warn_after: warnAfterSeconds = null, error_after: errorAfterSeconds = null } = freshness
  return { loadedAtField, warnAfterSeconds, errorAfterSeconds, place }
}

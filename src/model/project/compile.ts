import { seedSql } from './seeds.ts'
import type { z } from 'zod'
import { known, ProjectError, requireKnown, type Place } from './errors.ts'
import { hasOtherInput } from './other-input.ts'
import { referenceOf } from './properties.ts'
import { inOrder } from './select.ts'
import { mergeSettings, testSettings } from './settings.ts'
import { modelConfigShape, testConfigShape, type UnitTestInput } from './shapes.ts'
import { readTemplate, render, type Names, type Rendered } from './template.ts'
import type {
  Described,
  Statements,
  Model,
  ModelNode,
  ModelSettings,
  Project,
  Seed,
  SingularTest,
  Snapshot,
  TestNode,
  UnitTestNode,
  GivenRows,
  UnitTest,
} from './types.ts'

export interface CompileOptions {
  /** Override the project's vars. */
  readonly vars?: Readonly<Record<string, unknown>> | undefined
  /** The relation to read a source's table from, as SQL. */
  readonly sourceSql: (source: string, table: string) => string
  /** The engine that runs the statements. Default: DuckDB. */
  readonly engine?: 'spark'
}

/** The names that all templates of a project can use. */
type ProjectNames = Omit<Names, 'self'>

/** A project as it will be built. */
export interface Compiled {
  /** Each after the models that it reads, otherwise by name. */
  readonly models: readonly ModelNode[]
  readonly tests: readonly TestNode[]
  readonly unitTests: readonly UnitTestNode[]
}

/**
 * Renders every model and singular test; seeds come first.
 *
 * @throws ProjectError with file and line.
 */
export function compileProject(project: Project, options: CompileOptions): Compiled {
  const { models, seeds, snapshots } = project
  const all = [...models, ...seeds, ...snapshots]
  const names = {
    models: new Map(all.map((each) => [each.name, relationOf(each)])),
    sources: new Map(
      project.sources.map(({ name, tables }) => [name, tables.map((table) => table.name)]),
    ),
    sourceSql: options.sourceSql,
    vars: { ...project.vars, ...options.vars },
    ...(options.engine === undefined ? {} : { engine: options.engine }),
  }
  const nodes = [
    ...seeds.map(seedNode),
    ...models.map((model) => modelNode(model, names)),
    ...snapshots.map((snapshot) => snapshotNode(snapshot, names)),
  ]
  refuseUnknownTargets(all)
  return {
    models: inOrder(nodes, ({ name, file }, parent) => {
      const model = models.find((each) => each.name === name)
      const rendered = model && render(model.template, { ...names, self: '' })
      return rendered?.refPlaces.get(parent) ?? { file }
    }),
    tests: project.tests.map((test) => testNode(test, project, names)),
    unitTests: project.unitTests.map((test) => unitTestNode(test, models, names)),
  }
}

/**
 * Returns the models in build order without opening a database. Sources keep their own names
 * (`platform.users`).
 *
 * @throws ProjectError
 */
export function listModels(project: Project): readonly ModelNode[] {
  return compileProject(project, { sourceSql: (source, table) => `${source}.${table}` }).models
}

function relationOf({ name, config }: Pick<Model, 'name' | 'config'>): string {
  return `${config.schema}.${name}`
}

/** A file cannot choose its schema: the relation must be known before the file is rendered. */
const fileConfigShape = modelConfigShape.omit({ schema: true })

function settingsOf(model: Model, rendered: Rendered): ModelSettings {
  const settings = mergeSettings([model.config, readConfig(fileConfigShape, rendered, model.file)])
  if ((settings.materialized === 'incremental') === settings.unique_key.length > 0) return settings
  const problem =
    settings.materialized === 'incremental'
      ? 'an incremental model needs a unique_key: the columns of its interval'
      : `a unique_key is for incremental models, and this is a ${settings.materialized}`
  throw new ProjectError(placeOfConfig(rendered, model.file), `config: ${problem}`)
}

function modelNode(model: Model, names: ProjectNames): ModelNode {
  const own = { ...names, self: relationOf(model) }
  const settings = settingsOf(model, render(model.template, own))
  const all: Rendered[] = []
  const hooks: Rendered[] = []
  const statements = (isIncremental: boolean): Statements => {
    const { file, template } = model
    const body = render(template, { ...own, isIncremental })
    const before = settings.pre_hook.map((hook) =>
      render(readTemplate(hook, `${file} (pre_hook)`, template.macros), { ...own, isIncremental }),
    )
    all.push(body, ...before)
    hooks.push(...before)
    const preHooks = before.map(({ sql }) => sql.trim()).filter((sql) => sql !== '')
    return { preHooks, sql: needSql(body, file) }
  }
  const full = statements(false)
  const increment = settings.materialized === 'incremental' ? statements(true) : null
  const sources = [...new Set(all.flatMap(({ sources }) => sources))]
  const files = sources.map((source) => sqlOf(source, names))
  return {
    ...nodeOf(model, settings, full),
    increment,
    dependsOn: refsOf(all),
    hookRefs: refsOf(hooks),
    sources,
    hasOtherInput: all.some(({ sql }) => hasOtherInput(without(sql, files))),
  }
}

function sqlOf(source: string, { sourceSql }: ProjectNames): string {
  const [name = '', table = ''] = source.split('.')
  return sourceSql(name, table)
}

function without(sql: string, parts: readonly string[]): string {
  return parts.reduce((text, part) => text.replaceAll(part, ''), sql)
}

function seedNode(seed: Seed): ModelNode {
  const settings = { ...seed.config, materialized: 'seed' } as const
  return { ...nodeOf(seed, settings, { preHooks: [], sql: seedSql(seed) }), seed }
}

function snapshotNode(snapshot: Snapshot, { models }: ProjectNames): ModelNode {
  const { of, rule, config, place } = snapshot
  const relation = known(place, 'model', of, models)
  const settings = { ...config, materialized: 'snapshot' } as const
  const statements = { preHooks: [], sql: `select * from ${relation}` }
  return { ...nodeOf(snapshot, settings, statements), snapshot: rule, dependsOn: [of] }
}

/** A node without dependencies, which the caller adds. */
function nodeOf(described: Described, settings: ModelSettings, statements: Statements): ModelNode {
  const { name, file, description, columns, tests, place } = described
  return {
    name,
    file,
    description,
    columns,
    tests,
    place,
    ...settings,
    ...statements,
    relation: relationOf({ name, config: settings }),
    increment: null,
    seed: null,
    snapshot: null,
    dependsOn: [],
    hookRefs: [],
    sources: [],
    hasOtherInput: false,
  }
}

function refsOf(rendered: readonly Rendered[]): string[] {
  return [...new Set(rendered.flatMap(({ refs }) => refs))]
}

function testNode(test: SingularTest, { testConfig }: Project, names: ProjectNames): TestNode {
  const rendered = render(test.template, { ...names, self: test.name })
  return {
    name: test.name,
    file: test.file,
    ...testSettings(testConfig, readConfig(testConfigShape, rendered, test.file)),
    sql: needSql(rendered, test.file),
    dependsOn: rendered.refs,
    sources: rendered.sources,
  }
}

function readConfig<S extends z.ZodType>(shape: S, rendered: Rendered, file: string): z.output<S> {
  const result = shape.safeParse(rendered.config)
  if (result.success) return result.data
  const [issue] = result.error.issues
  const where = (issue?.path ?? []).map((step) => `${String(step)}: `).join('')
  const problem = `config: ${where}${issue?.message ?? 'wrong'}`
  throw new ProjectError(placeOfConfig(rendered, file), problem)
}

function placeOfConfig({ configLine }: Rendered, file: string): Place {
  return configLine === undefined ? { file } : { file, line: configLine }
}

/** The statement, to embed it in another. */
function withoutSemicolon({ sql }: Rendered): string {
  return sql.replace(/;\s*$/, '')
}

function needSql(rendered: Rendered, file: string): string {
  const sql = withoutSemicolon(rendered)
  if (sql.trim() === '') throw new ProjectError({ file }, 'the file renders to nothing')
  return sql
}

function refuseUnknownTargets(models: readonly Pick<Model, 'name' | 'tests'>[]): void {
  const names = models.map((model) => model.name)
  for (const test of models.flatMap((model) => model.tests)) {
    const name = referenceOf(test.arguments)?.model
    if (name !== undefined) requireKnown(test.place, 'model', name, names)
  }
}

/**
 * The model's select, which reads the given rows instead of its inputs.
 * `names` are those of the project.
 *
 * @throws ProjectError for an unknown model or input, and for an input of the model without
 * given rows.
 */
function unitTestNode(test: UnitTest, models: readonly Model[], names: ProjectNames): UnitTestNode {
  const { name, description, expect, place } = test
  const byName = new Map(models.map((each) => [each.name, each]))
  const model = known(place, 'model', test.model, byName)
  const given = test.given.map(({ input, rows }): GivenRows => ({
    input: input.text,
    alias: aliasOf(input.name),
    relation: replacedBy(input, names, place),
    rows,
  }))
  const rendered = render(model.template, {
    ...names,
    vars: { ...names.vars, ...test.overrides.vars },
    self: relationOf(model),
    models: new Map([...names.models.keys()].map((each) => [each, aliasOf(each)])),
    sourceSql: (source, table) => aliasOf(`${source}.${table}`),
  })
  compare([...rendered.refs, ...rendered.sources], given, test)
  const sql = withoutSemicolon(rendered)
  return { name, description, model: model.name, expect, place, sql, given }
}

/** The relation that the given rows replace. */
function replacedBy({ kind, name }: UnitTestInput, names: ProjectNames, place: Place): string {
  if (kind === 'ref') return known(place, 'model', name, names.models)
  const tables = [...names.sources].flatMap(([each, own]) => own.map((table) => `${each}.${table}`))
  requireKnown(place, 'source', name, tables)
  return sqlOf(name, names)
}

/** A name that differs from all CTEs of models. */
function aliasOf(name: string): string {
  return `given__${name.replace('.', '__')}`
}

function compare(read: readonly string[], given: readonly GivenRows[], test: UnitTest): void {
  const aliases = read.map(aliasOf)
  const lacking = read.find((name) => given.every(({ alias }) => alias !== aliasOf(name)))
  if (lacking !== undefined) {
    const problem = `unit test '${test.name}' has no rows for '${lacking}', which '${test.model}' reads`
    throw new ProjectError(test.place, problem, { hint: 'To give it no rows, write `rows: []`.' })
  }
  const idle = given.find(({ alias }) => !aliases.includes(alias))
  if (idle === undefined) return
  const problem = `unit test '${test.name}' has rows for ${idle.input}, which '${test.model}' does not read`
  throw new ProjectError(test.place, problem)
}

import { seedSql } from './seed-table.ts'
import type { z } from 'zod'
import { ProjectError, type Place } from './errors.ts'
import { inOrder } from './graph.ts'
import { unknownName } from './errors.ts'
import { settle, testSettings } from './properties.ts'
import { render, type Names, type Rendered } from './render.ts'
import { modelConfigShape, testConfigShape } from './shapes.ts'
import { readTemplate } from './template.ts'
import { unitTestNode } from '../checks/unit-test-node.ts'
import type {
  Making,
  Model,
  ModelNode,
  ModelSettings,
  Project,
  Seed,
  SingularTest,
  Snapshot,
  TestNode,
  UnitTestNode,
} from './types.ts'

/** What the project's files leave open. */
export interface CompileOptions {
  /** Overrule the project's own. */
  readonly vars?: Readonly<Record<string, unknown>> | undefined
  /** The relation to read a source's table from, as SQL. */
  readonly sourceSql: (source: string, table: string) => string
}

export interface Plan {
  /** Each behind the models that it reads, else by name. */
  readonly models: readonly ModelNode[]
  readonly tests: readonly TestNode[]
  readonly unitTests: readonly UnitTestNode[]
}

/**
 * Renders every model and singular test; seeds come first. Rendering is
 * done twice: `config(…)` inside a file may move a model to another schema, so
 * its relation is known only after the first pass.
 *
 * @throws ProjectError with file and line.
 */
export function compilePlan(project: Project, options: CompileOptions): Plan {
  const names = {
    sources: new Map(project.sources.map((source) => [source.name, source.tables])),
    sourceSql: options.sourceSql,
    vars: { ...project.vars, ...options.vars },
  }
  const all = [...project.models, ...project.seeds, ...project.snapshots]
  const nameless = new Map(all.map(({ name }) => [name, name]))
  const refLines = new Map<string, Rendered['refLines']>()
  const settings = new Map(
    project.models.map((model) => {
      const first = render(model.template, { ...names, self: '', models: nameless })
      refLines.set(model.name, first.refLines)
      return [model, settingsOf(model, first)]
    }),
  )
  const seeds = project.seeds.map(seedNode)
  const models = new Map([
    ...[...settings].map(([{ name }, { schema }]) => [name, `${schema}.${name}`] as const),
    ...seeds.map(({ name, relation }) => [name, relation] as const),
    ...project.snapshots.map(({ name, config }) => [name, `${config.schema}.${name}`] as const),
  ])
  refuseUnknownTargets(all)
  const nodes = [...settings].map(([model, own]) => modelNode(model, own, { ...names, models }))
  const snapshots = project.snapshots.map((snapshot) => snapshotNode(snapshot, models))
  return {
    models: inOrder([...seeds, ...nodes, ...snapshots], ({ name, file }, parent) => {
      const line = refLines.get(name)?.get(parent)
      return line === undefined ? { file } : { file, line }
    }),
    tests: project.tests.map((test) => testNode(test, project, { ...names, models })),
    unitTests: project.unitTests.map((test) =>
      unitTestNode(test, project.models, { ...names, models }),
    ),
  }
}

function settingsOf(model: Model, rendered: Rendered): ModelSettings {
  const settings = settle([model.config, readConfig(modelConfigShape, rendered, model.file)])
  if ((settings.materialized === 'incremental') === settings.unique_key.length > 0) return settings
  const problem =
    settings.materialized === 'incremental'
      ? 'an incremental model needs a unique_key: the columns of its interval'
      : `a unique_key is for incremental models, and this is a ${settings.materialized}`
  throw new ProjectError(placeOfConfig(rendered, model.file), `config: ${problem}`)
}

function modelNode(model: Model, settings: ModelSettings, names: Omit<Names, 'self'>): ModelNode {
  const { name, file, description, columns, tests, documented } = model
  const { pre_hook: hooks, ...rest } = settings
  const own = { ...names, self: `${settings.schema}.${name}` }
  const whole = makingOf(model, hooks, own)
  const isIncremental = settings.materialized === 'incremental'
  const increment = isIncremental ? makingOf(model, hooks, { ...own, isIncremental }) : null
  const all = [...whole.rendered, ...(increment?.rendered ?? [])]
  return {
    name,
    file,
    description,
    columns,
    tests,
    documented,
    ...rest,
    relation: own.self,
    ...whole.making,
    increment: increment?.making ?? null,
    seed: null,
    snapshot: null,
    dependsOn: [...new Set(all.flatMap(({ refs }) => refs))],
    sources: [...new Set(all.flatMap(({ sources }) => sources))],
  }
}

function seedNode(seed: Seed): ModelNode {
  const { name, file, description, columns, tests, documented, config } = seed
  return {
    name,
    file,
    description,
    columns,
    tests,
    documented,
    ...config,
    materialized: 'seed',
    unique_key: [],
    relation: `${config.schema}.${name}`,
    preHooks: [],
    sql: seedSql(seed),
    increment: null,
    seed,
    snapshot: null,
    dependsOn: [],
    sources: [],
  }
}

function snapshotNode(
  { of, rule, config, ...snapshot }: Snapshot,
  relations: ReadonlyMap<string, string>,
): ModelNode {
  const relation = relations.get(of)
  if (relation === undefined) throw unknownName(snapshot.documented, 'model', of, relations.keys())
  return {
    ...snapshot,
    ...config,
    materialized: 'snapshot',
    unique_key: [],
    relation: `${config.schema}.${snapshot.name}`,
    preHooks: [],
    sql: `select * from ${relation}`,
    increment: null,
    seed: null,
    snapshot: rule,
    dependsOn: [of],
    sources: [],
  }
}

function makingOf(
  { template, file }: Model,
  hooks: readonly string[],
  names: Names,
): { making: Making; rendered: readonly Rendered[] } {
  const body = render(template, names)
  const before = hooks.map((hook) =>
    render(readTemplate(hook, `${file} (pre_hook)`, template.macros), names),
  )
  const preHooks = before.map(({ sql }) => sql.trim()).filter((sql) => sql !== '')
  return { making: { preHooks, sql: needSql(body, file) }, rendered: [body, ...before] }
}

function testNode(
  test: SingularTest,
  { testConfig }: Project,
  names: Omit<Names, 'self'>,
): TestNode {
  const rendered = render(test.template, { ...names, self: test.name })
  return {
    name: test.name,
    file: test.file,
    ...testSettings([testConfig, readConfig(testConfigShape, rendered, test.file)]),
    sql: needSql(rendered, test.file),
    dependsOn: rendered.refs,
  }
}

function readConfig<S extends z.ZodType>(shape: S, rendered: Rendered, file: string): z.output<S> {
  const result = shape.safeParse(rendered.config)
  if (result.success) return result.data
  const [issue] = result.error.issues
  const where = (issue?.path ?? []).map((step) => `${String(step)}: `).join('')
  throw new ProjectError(
    placeOfConfig(rendered, file),
    `config: ${where}${issue?.message ?? 'wrong'}`,
  )
}

function placeOfConfig({ configLine }: Rendered, file: string): Place {
  return configLine === undefined ? { file } : { file, line: configLine }
}

/** The statement without its closing semicolon, for it is put into another. */
function needSql(rendered: Rendered, file: string): string {
  const sql = rendered.sql.replace(/;\s*$/, '')
  if (sql.trim() === '') throw new ProjectError({ file }, 'the file renders to nothing')
  return sql
}

function refuseUnknownTargets(models: readonly Pick<Model, 'name' | 'tests'>[]): void {
  const known = models.map((model) => model.name)
  for (const test of models.flatMap((model) => model.tests)) {
    if (test.arguments.kind !== 'relationships') continue
    const name = test.arguments.to
    if (!known.includes(name)) throw unknownName(test.place, 'model', name, known)
  }
}

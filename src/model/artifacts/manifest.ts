import { hash } from 'node:crypto'
import { identifier } from '../../lib/duckdb.ts'
import type { Compiled } from '../project/compile.ts'
import { referenceOf } from '../project/properties.ts'
import type { ModelNode, Project, TestNode, TestSettings, UnitTestNode } from '../project/types.ts'
import {
  compact,
  genericTestName,
  metadata,
  modelId,
  placed,
  resourceType,
  type Entry,
  type Invocation,
  type Json,
  type JsonObject,
  docEntries,
} from './ids.ts'

export interface EntryContext {
  readonly project: Project
  readonly compiled: Compiled
  /** The name of the published file without its ending, which dbt calls the database. */
  readonly database: string
  readonly sourceSql: (source: string, table: string) => string
  /** The checksums of seeds, and of the yml files of snapshots, by name. */
  readonly fileChecksums: ReadonlyMap<string, string>
  /** Seconds since the epoch. */
  readonly createdAt: number
}

type Entries = Readonly<Record<string, Entry>>
type Links = Readonly<Record<string, readonly string[]>>

/** Models and tests by kind and name, as in a build's outcomes: `model fct_org_day`. */
export function nodesOf(context: EntryContext): ReadonlyMap<string, Entry> {
  const { models, tests, unitTests } = context.compiled
  return new Map<string, Entry>([
    ...models.map((node) => [`model ${node.name}`, modelEntry(node, context)] as const),
    ...models.flatMap((node) => genericTestEntries(node, context)),
    ...tests.map((test) => [`check ${test.name}`, singularTestEntry(test, context)] as const),
    ...unitTests.map((test) => [`unit_test ${test.name}`, unitTestEntry(test, context)] as const),
  ])
}

/**
 * `manifest.json` (v12) of the project: its nodes, their SQL and their dependencies.
 * Macros are left out, because the runner expands its own few.
 */
export function manifest(
  context: EntryContext,
  all: ReadonlyMap<string, Entry>,
  invocation: Invocation,
): JsonObject {
  const { project } = context
  const entries = [...all.values()]
  const isUnitTest = (entry: Entry): boolean => entry['resource_type'] === 'unit_test'
  const nodes = byId(entries.filter((entry) => !isUnitTest(entry)))
  const unitTests = byId(entries.filter(isUnitTest))
  const sources = byId(sourceEntries(context))
  const exposures = byId(exposureEntries(context))
  const parents = parentMap({ ...nodes, ...unitTests, ...sources, ...exposures })
  const shared = metadata('manifest/v12', invocation)
  return {
    metadata: {
      ...shared,
      project_name: project.name,
      project_id: hash('md5', project.name),
      user_id: null,
      send_anonymous_usage_stats: false,
      adapter_type: 'duckdb',
      quoting: { database: true, schema: true, identifier: true, column: null },
      run_started_at: shared['invocation_started_at'] ?? null,
    },
    nodes,
    sources,
    macros: {},
    docs: byId(docEntries(project)),
    exposures,
    metrics: {},
    groups: {},
    selectors: {},
    disabled: {},
    parent_map: parents,
    child_map: childMap(parents),
    group_map: {},
    saved_queries: {},
    semantic_models: {},
    unit_tests: unitTests,
  }
}

export function byId(entries: readonly Entry[]): Entries {
  return Object.fromEntries(entries.map((entry) => [entry.unique_id, entry]))
}

function parentMap(entries: Entries): Links {
  return Object.fromEntries(
    Object.entries(entries).map(([id, { depends_on: dependsOn }]) => [
      id,
      [...(dependsOn?.nodes ?? [])].sort(),
    ]),
  )
}

function childMap(parents: Links): Links {
  const children = new Map<string, string[]>(Object.keys(parents).map((id) => [id, []]))
  for (const [id, own] of Object.entries(parents)) {
    for (const parent of own) children.get(parent)?.push(id)
  }
  return Object.fromEntries([...children].map(([id, own]) => [id, own.sort()]))
}

/** The fields of all nodes, with their default values. */
const NODE = {
  description: '',
  columns: {},
  tags: [],
  meta: {},
  group: null,
  docs: { show: true, node_color: null },
  patch_path: null,
  build_path: null,
  unrendered_config: {},
  relation_name: null,
}
const CONFIG = { enabled: true, alias: null, database: null, tags: [], meta: {}, group: null }
const CONTRACT = { enforced: false, alias_types: true }

/** The inputs of a node with a statement. */
function reads(names: readonly string[], sources: readonly string[], context: EntryContext) {
  const { project, compiled } = context
  const nodes = names.flatMap((name) => compiled.models.find((node) => node.name === name) ?? [])
  return {
    language: 'sql',
    refs: names.map((name) => ({ name, package: null, version: null })),
    sources: sources.map((source) => source.split('.')),
    metrics: [],
    depends_on: {
      macros: [],
      nodes: [
        ...sources.map((source) => `source.${project.name}.${source}`),
        ...nodes.map((node) => modelId(project.name, node)),
      ],
    },
    compiled_path: null,
    contract: { ...CONTRACT, checksum: null },
  }
}

const OF_MODELS = {
  access: 'protected',
  constraints: [],
  version: null,
  latest_version: null,
  deprecation_date: null,
}

function modelEntry(node: ModelNode, context: EntryContext): Entry {
  const { project, database, createdAt } = context
  const { name, snapshot, schema, description } = node
  const type = resourceType(node)
  const found = placed(type, modelId(project.name, node), name, node.file, project)
  const path = found.path.replace(/[^/]*$/, `${name}.sql`)
  const code = rawCode(node, project)
  const checksum = context.fileChecksums.get(name) ?? hash('sha256', compact(code))
  return {
    ...NODE,
    ...found,
    ...(snapshot === null ? {} : { path }),
    database,
    schema,
    alias: name,
    checksum: { name: 'sha256', checksum },
    config: configOf(node),
    tags: [...node.tags],
    description,
    columns: Object.fromEntries(node.columns.map((column) => [column.name, columnEntry(column)])),
    meta: json(node.meta),
    patch_path: `${project.name}://${node.place.file}`,
    created_at: createdAt,
    relation_name: [database, schema, name].map(identifier).join('.'),
    raw_code: code,
    ...(type === 'seed'
      ? { root_path: project.folder, depends_on: { macros: [] } }
      : {
          ...reads(node.dependsOn, node.sources, context),
          compiled: true,
          compiled_code: node.sql,
          extra_ctes_injected: true,
          extra_ctes: [],
        }),
    ...(type === 'model' ? OF_MODELS : {}),
  }
}

/** The text of the model's file. */
function rawCode({ name, snapshot, dependsOn }: ModelNode, { models }: Project): string {
  if (snapshot !== null) return `select * from {{ ref('${dependsOn[0] ?? ''}') }}`
  return models.find((model) => model.name === name)?.template.text.trim() ?? ''
}

function configOf(node: ModelNode): JsonObject {
  const isIncremental = node.materialized === 'incremental'
  return {
    ...CONFIG,
    schema: node.schema,
    tags: [...node.tags],
    meta: json(node.meta),
    materialized: node.materialized,
    incremental_strategy: isIncremental ? 'delete+insert' : null,
    persist_docs: { relation: true, columns: true },
    'post-hook': [],
    'pre-hook': node.preHooks.map((sql) => ({ sql, transaction: true, index: null })),
    quoting: {},
    column_types: { ...node.seed?.types },
    full_refresh: null,
    unique_key: isIncremental ? [...node.unique_key] : null,
    ...(node.snapshot === null ? {} : { ...node.snapshot, updated_at: null, strategy: 'check' }),
    on_schema_change: isIncremental ? 'fail' : 'ignore',
    grants: {},
    packages: [],
    docs: NODE.docs,
    contract: CONTRACT,
  }
}

function columnEntry({ name, description, meta }: ModelNode['columns'][number]): JsonObject {
  const config = { meta: json(meta), tags: [] }
  const nothing = { data_type: null, constraints: [], quote: null, tags: [] }
  return { name, description, meta: json(meta), config, ...nothing }
}

function genericTestEntries(
  node: ModelNode,
  context: EntryContext,
): [outcome: string, entry: Entry][] {
  const { project } = context
  return node.tests.map((test) => {
    const { id, name, alias, kwargs } = genericTestName(project.name, node, test)
    const reference = referenceOf(test.arguments)
    const others = reference === undefined ? [] : [reference.model]
    const entry = {
      ...testEntry(test, [...others, node.name], context),
      ...placed('test', id, name, test.place.file, project),
      path: `${alias}.sql`,
      alias,
      checksum: { name: 'none', checksum: '' },
      raw_code: `{{ test_${test.arguments.kind}(**_dbt_generic_test_kwargs) }}`,
      column_name: test.column,
      file_key_name: `models.${node.name}`,
      attached_node: modelId(project.name, node),
      test_metadata: { name: test.arguments.kind, kwargs, namespace: null },
    }
    return [`check ${test.name}`, entry]
  })
}

function singularTestEntry(test: TestNode, context: EntryContext): Entry {
  const { project } = context
  const { name, file, sql } = test
  const code = project.tests.find((each) => each.name === name)?.template.text.trim() ?? ''
  return {
    ...testEntry(test, test.dependsOn, context),
    ...placed('test', `test.${project.name}.${name}`, name, file, project),
    alias: name,
    checksum: { name: 'sha256', checksum: hash('sha256', compact(code)) },
    raw_code: code,
    compiled_code: sql,
  }
}

function testEntry(test: TestSettings, names: readonly string[], context: EntryContext) {
  const { schema, severity, store_failures } = test
  return {
    ...NODE,
    ...reads(names, [], context),
    database: context.database,
    schema,
    created_at: context.createdAt,
    config: {
      ...CONFIG,
      schema,
      materialized: 'test',
      severity: severity === 'error' ? 'ERROR' : 'warn',
      store_failures,
      store_failures_as: null,
      where: null,
      limit: null,
      fail_calc: 'count(*)',
      warn_if: '!= 0',
      error_if: '!= 0',
    },
  }
}

function unitTestEntry(test: UnitTestNode, { project, compiled }: EntryContext): Entry {
  const { name, place, description } = test
  const id = `unit_test.${project.name}.${test.model}.${name}`
  const model = compiled.models.find((node) => node.name === test.model)
  const found = placed('unit_test', id, name, place.file, project)
  return {
    ...found,
    fqn: found.fqn.toSpliced(-1, 0, test.model),
    model: test.model,
    given: test.given.map(({ input, rows }) => ({ input, ...fixture(rows) })),
    expect: fixture(test.expect),
    description,
    schema: model?.schema ?? null,
    config: { enabled: true, meta: {}, tags: [] },
    depends_on: { macros: [], nodes: model === undefined ? [] : [modelId(project.name, model)] },
  }
}

function fixture(rows: UnitTestNode['expect']): JsonObject {
  return { format: 'dict', rows: json(rows), fixture: null }
}

function sourceEntries({ project, database, sourceSql, createdAt }: EntryContext): Entry[] {
  return project.sources.flatMap(({ name, place: { file }, description, tables }) =>
    tables.map((table) => {
      const id = `source.${project.name}.${name}.${table.name}`
      const found = placed('source', id, table.name, file, project)
      return {
        ...found,
        path: file,
        fqn: found.fqn.toSpliced(-1, 0, name),
        database,
        schema: name,
        source_name: name,
        source_description: description,
        loader: '',
        identifier: table.name,
        quoting: { database: null, schema: null, identifier: null, column: null },
        loaded_at_field: null,
        freshness: null,
        external: null,
        description: table.description,
        columns: {},
        meta: {},
        source_meta: {},
        tags: [],
        config: { enabled: true },
        patch_path: null,
        unrendered_config: {},
        relation_name: sourceSql(name, table.name),
        created_at: createdAt,
      }
    }),
  )
}

function exposureEntries(context: EntryContext): Entry[] {
  const { project, createdAt } = context
  return project.exposures.map(({ dependsOn, place: { file }, owner, ...exposure }) => {
    const id = `exposure.${project.name}.${exposure.name}`
    const { refs, sources, metrics, depends_on } = reads(dependsOn, [], context)
    return {
      ...placed('exposure', id, exposure.name, file, project),
      ...exposure,
      owner: json(owner),
      refs,
      sources,
      metrics,
      depends_on,
      created_at: createdAt,
      meta: {},
      tags: [],
      config: { enabled: true },
      unrendered_config: {},
    }
  })
}

function json(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json
}

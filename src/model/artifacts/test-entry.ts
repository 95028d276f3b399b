import type { ModelNode, TestNode, TestSettings, UnitTestNode } from '../project/types.ts'
import {
  genericTestName,
  compact,
  modelId,
  sha256,
  singularTestId,
  unitTestId,
  type JsonObject,
} from './ids.ts'
import type { EntryContext } from './entry-context.ts'
import { json } from './model-entry.ts'

/** The generic tests of a model, as `manifest.json` has them, by their ids. */
export function genericTestEntries(
  node: ModelNode,
  context: EntryContext,
): [id: string, entry: JsonObject][] {
  const { project } = context
  return node.tests.map((test) => {
    const { id, name, alias, kwargs } = genericTestName(project.name, node, test)
    const { file } = test.place
    const others = test.arguments.kind === 'relationships' ? [test.arguments.to] : []
    const entry = {
      ...shared(test, [...others, node.name], context),
      name,
      path: `${alias}.sql`,
      original_file_path: file,
      unique_id: id,
      fqn: [project.name, ...file.split('/').slice(1, -1), name],
      alias,
      checksum: { name: 'none', checksum: '' },
      description: '',
      raw_code: `{{ test_${test.arguments.kind}(**_dbt_generic_test_kwargs) }}`,
      column_name: test.column,
      file_key_name: `models.${node.name}`,
      attached_node: modelId(project.name, node),
      test_metadata: { name: test.arguments.kind, kwargs, namespace: null },
    }
    return [id, entry]
  })
}

/** A singular test, as `manifest.json` has it. */
export function singularTestEntry(test: TestNode, context: EntryContext): JsonObject {
  const { project } = context
  const { name, file } = test
  const code = project.tests.find((each) => each.name === name)?.template.text.trim() ?? ''
  return {
    ...shared(test, test.dependsOn, context),
    name,
    path: file.split('/').slice(1).join('/'),
    original_file_path: file,
    unique_id: singularTestId(project.name, test),
    fqn: [project.name, ...file.split('/').slice(1, -1), name],
    alias: name,
    checksum: { name: 'sha256', checksum: sha256(compact(code)) },
    description: '',
    raw_code: code,
    compiled_code: test.sql,
  }
}

/** A unit test, as `manifest.json` has it. */
export function unitTestEntry(test: UnitTestNode, { project, plan }: EntryContext): JsonObject {
  const { file } = test.place
  const path = file.split('/').slice(1)
  const model = plan.models.find(({ name }) => name === test.model)
  return {
    model: test.model,
    given: test.given.map(({ input, rows }) => ({ input, ...fixture(rows) })),
    expect: fixture(test.expect),
    name: test.name,
    resource_type: 'unit_test',
    package_name: project.name,
    path: path.join('/'),
    original_file_path: file,
    unique_id: unitTestId(project.name, test),
    fqn: [project.name, ...path.slice(0, -1), test.model, test.name],
    description: test.description,
    schema: model?.schema ?? null,
    config: { enabled: true, meta: {}, tags: [] },
    depends_on: { macros: [], nodes: model === undefined ? [] : [modelId(project.name, model)] },
  }
}

function fixture(rows: UnitTestNode['expect']): JsonObject {
  const format = typeof rows === 'string' ? 'sql' : 'dict'
  return { format, rows: json(rows), fixture: null }
}

function shared(
  test: TestSettings,
  reads: readonly string[],
  { project, plan, database, createdAt }: EntryContext,
): JsonObject {
  const nodes = reads.flatMap((name) => plan.models.find((node) => node.name === name) ?? [])
  return {
    database,
    schema: test.schema,
    resource_type: 'test',
    package_name: project.name,
    config: {
      enabled: true,
      alias: null,
      schema: test.schema,
      database: null,
      tags: [],
      meta: {},
      group: null,
      materialized: 'test',
      severity: test.severity === 'error' ? 'ERROR' : 'warn',
      store_failures: test.store_failures,
      store_failures_as: null,
      where: test.where,
      limit: test.limit,
      fail_calc: 'count(*)',
      warn_if: test.warn_if,
      error_if: test.error_if,
    },
    tags: [],
    columns: {},
    meta: {},
    group: null,
    docs: { show: true, node_color: null },
    patch_path: null,
    build_path: null,
    unrendered_config: {},
    created_at: createdAt,
    relation_name: null,
    language: 'sql',
    refs: reads.map((name) => ({ name, package: null, version: null })),
    sources: [],
    metrics: [],
    depends_on: { macros: [], nodes: nodes.map((node) => modelId(project.name, node)) },
    compiled_path: null,
    contract: { enforced: false, alias_types: true, checksum: null },
  }
}

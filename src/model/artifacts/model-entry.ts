import { identifier } from '../../lib/duckdb.ts'
import type { Column, ModelNode } from '../project/types.ts'
import {
  compact,
  modelId,
  resourceType,
  sha256,
  sourceId,
  type Json,
  type JsonObject,
} from './ids.ts'
import type { EntryContext } from './entry-context.ts'

/** A model, a seed or a snapshot, as `manifest.json` has it. */
export function modelEntry(node: ModelNode, context: EntryContext): JsonObject {
  const { project, createdAt } = context
  const type = resourceType(node)
  return {
    ...placeOf(node, context),
    resource_type: type,
    unique_id: modelId(project.name, node),
    alias: node.name,
    checksum: { name: 'sha256', checksum: checksumOf(node, context) },
    config: configOf(node),
    tags: [...node.tags],
    description: node.description,
    columns: Object.fromEntries(node.columns.map((column) => [column.name, columnEntry(column)])),
    meta: json(node.meta),
    group: null,
    docs: { show: true, node_color: null },
    patch_path: `${project.name}://${node.documented.file}`,
    build_path: null,
    unrendered_config: {},
    created_at: createdAt,
    relation_name: relationName(node, context),
    raw_code: rawCode(node, context),
    ...(type === 'seed'
      ? { root_path: project.folder, depends_on: { macros: [] } }
      : madeFrom(node, context)),
    ...(type === 'model' ? OF_MODELS : {}),
  }
}

/** `"warehouse"."main"."fct_org_day"` */
export function relationName(
  { schema, name }: Pick<ModelNode, 'schema' | 'name'>,
  { database }: Pick<EntryContext, 'database'>,
): string {
  return [database, schema, name].map(identifier).join('.')
}

const OF_MODELS = {
  access: 'protected',
  constraints: [],
  version: null,
  latest_version: null,
  deprecation_date: null,
}

/** Its file without the space around it. */
function rawCode({ name, snapshot, dependsOn }: ModelNode, { project }: EntryContext): string {
  if (snapshot !== null) return `select * from {{ ref('${dependsOn[0] ?? ''}') }}`
  return project.models.find((model) => model.name === name)?.template.text.trim() ?? ''
}

function checksumOf(node: ModelNode, context: EntryContext): string {
  return context.fileChecksums.get(node.name) ?? sha256(compact(rawCode(node, context)))
}

function placeOf({ name, file, schema, snapshot }: ModelNode, context: EntryContext): JsonObject {
  const [, ...path] = file.split('/')
  const folders = path.slice(0, -1)
  return {
    database: context.database,
    schema,
    name,
    package_name: context.project.name,
    path: snapshot === null ? path.join('/') : [...folders, `${name}.sql`].join('/'),
    original_file_path: file,
    fqn: [context.project.name, ...folders, name],
  }
}

function madeFrom(node: ModelNode, { project, plan }: EntryContext): JsonObject {
  const byName = new Map(plan.models.map((each) => [each.name, each]))
  const parents = node.dependsOn.flatMap((name) => byName.get(name) ?? [])
  return {
    language: 'sql',
    refs: node.dependsOn.map((name) => ({ name, package: null, version: null })),
    sources: node.sources.map((source) => source.split('.')),
    metrics: [],
    depends_on: {
      macros: [],
      nodes: [
        ...node.sources.map((source) => sourceId(project.name, source)),
        ...parents.map((parent) => modelId(project.name, parent)),
      ],
    },
    compiled_path: null,
    compiled: true,
    compiled_code: node.sql,
    extra_ctes_injected: true,
    extra_ctes: [],
    contract: { enforced: false, alias_types: true, checksum: null },
  }
}

function configOf(node: ModelNode): JsonObject {
  const isIncremental = node.materialized === 'incremental'
  return {
    enabled: true,
    alias: null,
    schema: node.schema,
    database: null,
    tags: [...node.tags],
    meta: json(node.meta),
    group: null,
    materialized: node.materialized,
    incremental_strategy: isIncremental ? 'delete+insert' : null,
    persist_docs: { relation: true, columns: true },
    'post-hook': [],
    'pre-hook': node.preHooks.map((sql) => ({ sql, transaction: true, index: null })),
    quoting: {},
    column_types: { ...node.seed?.types },
    full_refresh: null,
    unique_key: isIncremental ? [...node.unique_key] : null,
    ...snapshotConfig(node),
    on_schema_change: isIncremental ? 'fail' : 'ignore',
    grants: {},
    packages: [],
    docs: { show: true, node_color: null },
    contract: { enforced: false, alias_types: true },
  }
}

function snapshotConfig({ snapshot }: ModelNode): JsonObject {
  if (snapshot === null) return {}
  const { unique_key, updated_at, check_cols, hard_deletes } = snapshot
  const strategy = updated_at === null ? 'check' : 'timestamp'
  return { strategy, unique_key: [...unique_key], updated_at, check_cols, hard_deletes }
}

function columnEntry({ name, description, meta }: Column): JsonObject {
  return {
    name,
    description,
    meta: json(meta),
    data_type: null,
    constraints: [],
    quote: null,
    config: { meta: json(meta), tags: [] },
    tags: [],
  }
}

/** What a yml file says, as JSON says it. */
export function json(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json
}

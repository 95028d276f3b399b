import { createHash } from 'node:crypto'
import type { Project } from '../project/types.ts'
import type { EntryContext } from './entry-context.ts'
import {
  genericTestName,
  modelId,
  singularTestId,
  unitTestId,
  type Json,
  type JsonObject,
} from './ids.ts'
import { metadata, type Invocation } from './metadata.ts'
import { modelEntry } from './model-entry.ts'
import { sourceEntries } from './source-entry.ts'
import { genericTestEntries, singularTestEntry, unitTestEntry } from './test-entry.ts'

/**
 * `manifest.json` (v12) of the project: what is in it, how it is made, and what
 * depends on what. Macros are left out: the runner expands its own few.
 */
export function manifest(context: EntryContext, invocation: Invocation): JsonObject {
  const { project, plan } = context
  const nodes = Object.fromEntries([
    ...plan.models.map((node) => [modelId(project.name, node), modelEntry(node, context)] as const),
    ...plan.models.flatMap((node) => genericTestEntries(node, context)),
    ...plan.tests.map(
      (test) => [singularTestId(project.name, test), singularTestEntry(test, context)] as const,
    ),
  ])
  const unitTests = Object.fromEntries(
    plan.unitTests.map((test) => [unitTestId(project.name, test), unitTestEntry(test, context)]),
  )
  const sources = sourceEntries(context)
  const parents = parentMap(nodes, unitTests, Object.keys(sources))
  return {
    metadata: manifestMetadata(project.name, invocation),
    nodes,
    sources,
    macros: {},
    docs: docEntries(project),
    exposures: {},
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

/** The ids of everything that can be run, by its name here. */
export function idsOf({ project, plan }: EntryContext): {
  readonly models: ReadonlyMap<string, string>
  readonly checks: ReadonlyMap<string, string>
  readonly unitTests: ReadonlyMap<string, string>
} {
  const { name } = project
  return {
    models: new Map(plan.models.map((node) => [node.name, modelId(name, node)])),
    checks: new Map([
      ...plan.tests.map((test) => [test.name, singularTestId(name, test)] as const),
      ...plan.models.flatMap((node) =>
        node.tests.map((test) => [test.name, genericTestName(name, node, test).id] as const),
      ),
    ]),
    unitTests: new Map(plan.unitTests.map((test) => [test.name, unitTestId(name, test)])),
  }
}

function manifestMetadata(project: string, invocation: Invocation): JsonObject {
  const shared = metadata('manifest/v12', invocation)
  return {
    ...shared,
    project_name: project,
    project_id: createHash('md5').update(project).digest('hex'),
    user_id: null,
    send_anonymous_usage_stats: false,
    adapter_type: 'duckdb',
    quoting: { database: true, schema: true, identifier: true, column: null },
    run_started_at: shared['invocation_started_at'] ?? null,
  }
}

/** The first page of dbt's documentation, where the project has none of its own. */
const OVERVIEW = {
  name: '__overview__',
  file: 'models/overview.md',
  text: 'Facts and dimensions of the usage of an AI-agent platform: schema `main` for marts, `staging` and `intermediate` for what they are made from.',
}

function docEntries({ name: project, docs }: Project): JsonObject {
  const entries = [OVERVIEW, ...docs].map(({ name, file, text }) => {
    const id = `doc.${project}.${name}`
    const entry = {
      name,
      resource_type: 'doc',
      package_name: project,
      path: file.split('/').slice(1).join('/'),
      original_file_path: file,
      unique_id: id,
      block_contents: text,
    }
    return [id, entry] as const
  })
  return Object.fromEntries(entries)
}

type Entries = Readonly<Record<string, JsonObject>>

function parentMap(
  nodes: Entries,
  unitTests: Entries,
  sources: readonly string[],
): Record<string, readonly string[]> {
  const parents = Object.entries({ ...nodes, ...unitTests }).map(
    ([id, entry]) => [id, parentsOf(entry['depends_on'])] as const,
  )
  return Object.fromEntries([...parents, ...sources.map((id) => [id, []] as const)])
}

function parentsOf(dependsOn: Json | undefined): readonly string[] {
  if (typeof dependsOn !== 'object' || dependsOn === null || !('nodes' in dependsOn)) return []
  const { nodes } = dependsOn
  return Array.isArray(nodes) ? nodes.map(String).sort() : []
}

function childMap(
  parents: Readonly<Record<string, readonly string[]>>,
): Record<string, readonly string[]> {
  const children = new Map<string, string[]>(Object.keys(parents).map((id) => [id, []]))
  for (const [id, own] of Object.entries(parents)) {
    for (const parent of own) children.get(parent)?.push(id)
  }
  return Object.fromEntries([...children].map(([id, own]) => [id, own.sort()]))
}

import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { readJson, writeAtomic } from '../../lib/files.ts'
import { messageOf } from '../../lib/errors.ts'
import type { Compiled } from '../project/compile.ts'
import type { FreshnessResult } from '../checks/freshness.ts'
import type { RunningBuild, Outcome } from '../shared/context.ts'
import type { SelectionState } from '../project/select.ts'
import type { ModelNode, Project } from '../project/types.ts'
import type { Relation, Relations } from '../shared/relations.ts'
import {
  compact,
  iso,
  metadata,
  modelId,
  type Entry,
  type Invocation,
  type JsonObject,
} from './ids.ts'
import { byId, manifest, nodesOf, type EntryContext } from './manifest.ts'

interface BuildResults {
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly outcomes: ReadonlyMap<string, Outcome>
  readonly freshness: readonly FreshnessResult[]
  /** The relations of the published file, if this build published it; otherwise the catalogue stays. */
  readonly relations?: Relations
}

/**
 * Writes dbt's artifacts of a build: `manifest.json` (v12), `run_results.json` (v6),
 * `sources.json` (v3) and, if its file was published, `catalog.json` (v1). Each is
 * replaced atomically. If artifacts cannot be written, the build stays published.
 */
export async function writeArtifacts(
  build: RunningBuild,
  compiled: Compiled,
  { startedAt, outcomes, freshness, relations }: BuildResults,
): Promise<void> {
  const { artifacts, project, sourceSql, target, runId, now, emit, select = null } = build
  if (artifacts === undefined) return
  const { folder, builder } = artifacts
  const invocation = { runId, startedAt, finishedAt: now(), builder }
  const write = async (name: string, content: JsonObject): Promise<void> => {
    await writeAtomic(join(folder, `${name}.json`), `${JSON.stringify(content)}\n`)
  }
  try {
    const database = basename(target).replace(/\.duckdb$/, '')
    const createdAt = invocation.finishedAt / 1000
    const fileChecksums = await checksumsOf(project, compiled)
    const context = { project, compiled, database, sourceSql, createdAt, fileChecksums }
    const nodes = nodesOf(context)
    await Promise.all([
      write('manifest', manifest(context, nodes, invocation)),
      write('run_results', runResults(outcomes, nodes, invocation, select)),
      write('sources', sources(freshness, project.name, invocation)),
      ...(relations ? [write('catalog', catalog(relations, context, invocation))] : []),
    ])
  } catch (error) {
    emit({ type: 'warning', message: `${folder} could not be written: ${messageOf(error)}` })
  }
}

async function checksumsOf(project: Project, { models }: Compiled): Promise<Map<string, string>> {
  const checksums = new Map<string, string>()
  for (const { name, file, seed, snapshot } of models) {
    if (seed !== null) {
      checksums.set(name, hash('sha256', seed.csv.text.trim()))
    } else if (snapshot !== null) {
      const yml = await readFile(join(project.folder, file), 'utf8')
      checksums.set(name, hash('sha256', compact(yml)))
    }
  }
  return checksums
}

/** `catalog.json` (v1): the tables and views of models in the published file. */
function catalog(
  relations: Relations,
  { project, compiled, database }: EntryContext,
  invocation: Invocation,
): JsonObject {
  const nodes = compiled.models.flatMap((node) => {
    const relation = relations.get(node.relation)
    return relation === undefined ? [] : [tableEntry(node, relation, project, database)]
  })
  return {
    metadata: metadata('catalog/v1', invocation),
    nodes: byId(nodes),
    sources: {},
    errors: null,
  }
}

function tableEntry(
  node: ModelNode,
  { kind, comment, columns }: Relation,
  project: Project,
  database: string,
): Entry {
  const { schema, name } = node
  const type = kind === 'view' ? 'VIEW' : 'BASE TABLE'
  return {
    metadata: { type, schema, name, database, comment, owner: null },
    columns: Object.fromEntries(
      columns.map(({ name, type, index, comment }) => [name, { type, index, name, comment }]),
    ),
    stats: {
      has_stats: {
        id: 'has_stats',
        label: 'Has Stats?',
        value: false,
        include: false,
        description: 'Indicates whether there are statistics for this table',
      },
    },
    unique_id: modelId(project.name, node),
  }
}

/** The members of every result. */
function execution(startedAt: number, durationMs: number) {
  const span = { started_at: iso(startedAt), completed_at: iso(startedAt + durationMs) }
  return {
    timing: [{ name: 'execute', ...span }],
    thread_id: 'main',
    execution_time: durationMs / 1000,
    adapter_response: {},
  }
}

/**
 * `run_results.json` (v6): the result of each node, in the order of the results.
 * `nodes` are the manifest's entries by kind and name.
 */
function runResults(
  outcomes: ReadonlyMap<string, Outcome>,
  nodes: ReadonlyMap<string, Entry>,
  invocation: Invocation,
  select: string | null,
): JsonObject {
  const { startedAt, finishedAt } = invocation
  return {
    metadata: metadata('run-results/v6', invocation),
    results: [...outcomes].flatMap(([key, outcome]) => {
      const entry = nodes.get(key)
      return entry === undefined ? [] : [resultOf(outcome, entry)]
    }),
    elapsed_time: (finishedAt - startedAt) / 1000,
    args: { which: 'build', select: select === null ? [] : [select] },
  }
}

function resultOf(outcome: Outcome, entry: Entry): JsonObject {
  const { kind, status, startedAt, durationMs, message, failures } = outcome
  const isModel = kind === 'model'
  return {
    ...execution(startedAt, durationMs),
    ...(status === 'skipped' ? { timing: [] } : {}),
    status,
    message,
    failures,
    unique_id: entry.unique_id,
    compiled: isModel,
    compiled_code: isModel ? (entry['compiled_code'] ?? null) : null,
    relation_name: isModel ? (entry['relation_name'] ?? null) : null,
  }
}

/** `sources.json` (v3): the freshness of tables that have a rule; empty tables are left out. */
function sources(
  freshness: readonly FreshnessResult[],
  project: string,
  invocation: Invocation,
): JsonObject {
  const results = freshness.flatMap(
    ({ source, table, loadedAt, checkedAt, rule, status, durationMs }) => {
      if (loadedAt === null) return []
      const result = {
        ...execution(checkedAt, durationMs),
        unique_id: `source.${project}.${source}.${table}`,
        max_loaded_at: iso(loadedAt),
        snapshotted_at: iso(checkedAt),
        max_loaded_at_time_ago_in_s: (checkedAt - loadedAt) / 1000,
        status,
        criteria: {
          warn_after: periodOf(rule.warnAfterSeconds),
          error_after: periodOf(rule.errorAfterSeconds),
          filter: null,
        },
      }
      return [result]
    },
  )
  const elapsed = freshness.reduce((sum, { durationMs }) => sum + durationMs, 0)
  return { metadata: metadata('sources/v3', invocation), results, elapsed_time: elapsed / 1000 }
}

function periodOf(seconds: number | null): JsonObject {
  if (seconds === null) return { count: null, period: null }
  return { count: seconds / 60, period: 'minute' }
}

const resultsShape = z.object({
  results: z.array(z.object({ unique_id: z.string(), status: z.string() })),
})

const entries = z.record(
  z.string(),
  z.object({
    name: z.string(),
    attached_node: z.string().optional(),
    depends_on: z.object({ nodes: z.array(z.string()).default([]) }).optional(),
  }),
)
const manifestShape = z.object({ nodes: entries, unit_tests: entries })
type Entries = z.output<typeof entries>

/**
 * Reads `run_results.json`, and the manifest of the same build, because the project may no longer
 * have a test that failed. Returns dbt's statuses by model; null if a file is missing or unreadable.
 */
export async function readLastResults(folder: string): Promise<SelectionState['results']> {
  const read = (name: string): Promise<unknown> => readJson(join(folder, name), () => undefined)
  const results = resultsShape.safeParse(await read('run_results.json')).data
  const manifest = manifestShape.safeParse(await read('manifest.json')).data
  if (results === undefined || manifest === undefined) return null
  const all = { ...manifest.nodes, ...manifest.unit_tests }
  const byModel = new Map<string, Set<string>>()
  for (const { unique_id: id, status } of results.results) {
    for (const model of modelsOf(id, all)) {
      byModel.set(model, new Set([...(byModel.get(model) ?? []), status]))
    }
  }
  return byModel
}

function modelsOf(id: string, all: Entries): readonly string[] {
  const entry = all[id]
  const isTest = id.startsWith('test.') || id.startsWith('unit_test.')
  if (entry === undefined) return []
  if (!isTest) return [entry.name]
  const of = entry.attached_node === undefined ? entry.depends_on?.nodes : [entry.attached_node]
  return (of ?? []).flatMap((parent) => all[parent]?.name ?? [])
}

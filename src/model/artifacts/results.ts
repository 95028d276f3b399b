import { hash } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { readJson } from '../../lib/files.ts'
import type { Outcome } from '../shared/context.ts'
import type { FreshnessResult } from '../checks/freshness.ts'
import type { Entry, JsonObject } from './ids.ts'

/** The release of dbt Core with the same artifacts; consumers check it. */
const DBT_VERSION = '1.12.6'

/** One build, as its artifacts record it. Times are milliseconds since the epoch. */
export interface Invocation {
  readonly runId: string
  readonly startedAt: number
  readonly finishedAt: number
  /** For example `agent-warehouse 0.1.0`. */
  readonly builder: string
}

/** The first member of every artifact; `schema` as in `manifest/v12`. */
export function metadata(schema: string, invocation: Invocation): JsonObject {
  const { runId, startedAt, finishedAt, builder } = invocation
  return {
    dbt_schema_version: `https://schemas.getdbt.com/dbt/${schema}.json`,
    dbt_version: DBT_VERSION,
    generated_at: iso(finishedAt),
    invocation_id: asUuid(hash('sha256', runId)),
    invocation_started_at: iso(startedAt),
    env: { built_by: builder, run_id: runId },
  }
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}

/** Consumers read it as a UUID. */
function asUuid(hex: string): string {
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5')
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
export function runResults(
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
export function sources(
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
  metadata: z.object({ env: z.record(z.string(), z.string()) }),
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
 * have a test that failed. Null if they are missing or unreadable. `byModel`: dbt's statuses.
 */
export async function readLastResults(folder: string) {
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
  return { runId: results.metadata.env['run_id'] ?? '', byModel }
}

function modelsOf(id: string, all: Entries): readonly string[] {
  const entry = all[id]
  const isTest = id.startsWith('test.') || id.startsWith('unit_test.')
  if (entry === undefined) return []
  if (!isTest) return [entry.name]
  const of = entry.attached_node === undefined ? entry.depends_on?.nodes : [entry.attached_node]
  return (of ?? []).flatMap((parent) => all[parent]?.name ?? [])
}

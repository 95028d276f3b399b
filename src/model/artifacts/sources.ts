import type { FreshnessResult } from '../checks/freshness.ts'
import { sourceId, type JsonObject } from './ids.ts'
import { iso, metadata, type Invocation } from './metadata.ts'

/** `sources.json` (v3): how fresh each table was that is expected to be; those without rows are left out. */
export function sources(
  freshness: readonly FreshnessResult[],
  project: string,
  invocation: Invocation,
): JsonObject {
  const results = freshness.flatMap((result) => {
    const { loadedAt } = result
    return loadedAt === null ? [] : [resultOf(result, loadedAt, project)]
  })
  const elapsed = freshness.reduce((sum, { durationMs }) => sum + durationMs, 0)
  return { metadata: metadata('sources/v3', invocation), results, elapsed_time: elapsed / 1000 }
}

function resultOf(result: FreshnessResult, loadedAt: number, project: string): JsonObject {
  const { source, table, checkedAt, rule, status, durationMs } = result
  const span = { started_at: iso(checkedAt), completed_at: iso(checkedAt + durationMs) }
  return {
    unique_id: sourceId(project, `${source}.${table}`),
    max_loaded_at: iso(loadedAt),
    snapshotted_at: iso(checkedAt),
    max_loaded_at_time_ago_in_s: (checkedAt - loadedAt) / 1000,
    status,
    criteria: {
      warn_after: periodOf(rule.warnAfterSeconds),
      error_after: periodOf(rule.errorAfterSeconds),
      filter: rule.filter,
    },
    adapter_response: {},
    timing: [{ name: 'execute', ...span }],
    thread_id: 'main',
    execution_time: durationMs / 1000,
  }
}

function periodOf(seconds: number | null): JsonObject {
  return seconds === null
    ? { count: null, period: null }
    : { count: seconds / 60, period: 'minute' }
}

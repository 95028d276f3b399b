import { sha256, type JsonObject } from './ids.ts'

/** The release of dbt Core whose artifacts these are like: its consumers ask for it. */
const DBT_VERSION = '1.12.6'

/** One build, as its artifacts record it. Times are milliseconds since the epoch. */
export interface Invocation {
  readonly runId: string
  readonly startedAt: number
  readonly finishedAt: number
  /** What built it, e.g. `agent-warehouse 0.1.0`. */
  readonly builder: string
}

/** What every artifact begins with; `schema` as in `manifest/v12`. */
export function metadata(schema: string, invocation: Invocation): JsonObject {
  const { runId, startedAt, finishedAt, builder } = invocation
  return {
    dbt_schema_version: `https://schemas.getdbt.com/dbt/${schema}.json`,
    dbt_version: DBT_VERSION,
    generated_at: iso(finishedAt),
    invocation_id: asUuid(sha256(runId)),
    invocation_started_at: iso(startedAt),
    env: { built_by: builder, run_id: runId },
  }
}

export function iso(ms: number): string {
  return new Date(ms).toISOString()
}

/** Consumers read it as a UUID. */
function asUuid(digest: string): string {
  const part = (from: number, to: number): string => digest.slice(from, to)
  return [part(0, 8), part(8, 12), `8${part(13, 16)}`, `8${part(17, 20)}`, part(20, 32)].join('-')
}

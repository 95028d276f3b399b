import type { Database, Table } from '../../lib/duckdb.ts'
import type { RunEvent } from '../../lib/events.ts'
import type { DatabaseLimits } from '../../lib/machine.ts'
import type { Compiled, CompileOptions } from '../project/compile.ts'
import type { ModelNode, Project, UnitTestNode } from '../project/types.ts'
import type { PlannedCheck } from './checks.ts'
import type { InputDigests, SourceFacts } from './fingerprint.ts'
import type { Relations } from './relations.ts'

/** A file that was not published, kept for inspection and for a retry. */
interface FailedFile {
  readonly path: string
  /** What the sources contained, as a text to compare. */
  readonly sources: string
}

/** What the caller asks for. */
export interface BuildOptions extends CompileOptions, SourceFacts {
  readonly project: Project
  /** Path of the published file. */
  readonly target: string
  readonly select?: string
  readonly exclude?: string
  /** Continue from the failed file: build only what it lacks. */
  readonly retry: boolean
  /** Where a failed file is kept for inspection and a retry. Default: it is removed. */
  readonly failedFile?: FailedFile
  /**
   * Where to write dbt's artifacts, and the name of the generator, e.g. `agent-warehouse 0.1.0`.
   */
  readonly artifacts?: { readonly folder: string; readonly builder: string }
  /** Build every model from scratch. */
  readonly fullRefresh: boolean
  /** Writes more tables of schema `meta`; called after the models and before the checks. */
  readonly meta?: (db: Database) => Promise<void>
  readonly runId: string
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly emit: (event: RunEvent) => void
  /** Of the database. Default: those of a build. */
  readonly limits?: DatabaseLimits
  /** Where queries spill. */
  readonly tempDirectory: string
  /** Stops the running statement; nothing is published. */
  readonly signal?: AbortSignal
  /** The point in time of the data, milliseconds since the epoch; null: all that has landed. */
  readonly asOf: number | null
  /** How many earlier published files are kept. */
  readonly keep: number
  /** Builds the models and runs their checks. Default: DuckDB. */
  readonly spark?: SparkEngine
}

export interface SparkSettings {
  /** `spark://host:7077`, `yarn`, `k8s://…`, `local[4]`. */
  readonly master: string
  /** The folder of Spark; null: that of `SPARK_HOME` or of the `pyspark` of python3. */
  readonly home: string | null
  /** Spark's own settings, by name. */
  readonly settings: Readonly<Record<string, string>>
  /** The environment of the started process. */
  readonly environment: Readonly<Record<string, string>>
}

/** Spark, and how its machines reach the data. */
export interface SparkEngine extends SparkSettings {
  /** The Parquet files of a source's table, as the cluster's machines name them. */
  readonly sourceUrl: (source: string, table: string) => string
  /** A folder for files that Spark reads and writes during a build, which empties it. */
  readonly folder: string
  /** A path as the cluster's machines name it. */
  readonly urlOf: (path: string) => string
}

/** Whether only some models are built, and the file keeps the others. */
export function isPartial({ select: selector, exclude, retry }: BuildOptions): boolean {
  return selector !== undefined || exclude !== undefined || retry
}

/** What a build does with a model, and why. */
export interface NodePlan {
  readonly node: ModelNode
  /**
   * - `reuse`: its table or view stays as it is in the published file;
   * - `update`: only the changed intervals of its table are replaced;
   * - `create`: it is built from scratch.
   */
  readonly action: 'reuse' | 'update' | 'create'
  readonly reason: string
  /** Whether the table or view already has its comments. */
  readonly isDescribed: boolean
  /** Whether its rows are known to be those of the published file. */
  readonly hasSameRows: boolean
}

/** Everything that a build decides before it writes. */
export interface BuildPlan {
  readonly compiled: Compiled
  /**
   * Whether all tables are created. Else the build continues in a copy of the published file, because
   * an incremental model is updated or reused, or only some models are built.
   */
  readonly isInNewFile: boolean
  /** The tables and views of that file. */
  readonly relations: Relations
  /** The selected models, in build order. */
  readonly nodes: readonly NodePlan[]
  /**
   * The views that are not selected, but name the files of base by a path where the data folder is no
   * longer: the selected models may read them.
   */
  readonly movedViews: readonly ModelNode[]
  readonly inputDigests: ReadonlyMap<string, InputDigests>
  readonly checks: readonly PlannedCheck[]
  /** The unit tests of models that changed, or whose unit tests changed. */
  readonly unitTests: readonly UnitTestNode[]
  readonly unitTestDigests: ReadonlyMap<string, string>
}

/** The options of a build, and the functions that report its progress. */
export interface RunningBuild extends BuildOptions {
  readonly report: (outcome: ReportedOutcome) => void
  /** Reports damage that was found. */
  readonly warn: (message: string) => void
}

/** The state that the steps of a build share. */
export interface BuildContext extends RunningBuild {
  readonly db: Database
  /** Another connection to it: it neither sees the temporary tables of `db` nor waits for it. */
  readonly second: Database
  /** The columns of relations as `readColumns` read them last. */
  readonly tableColumns: Map<string, TableColumns>
}

export type TableColumns = Omit<Table, 'rows'>

/** Reads the columns of a table, view or subquery, and keeps them for the unit tests of models. */
export async function readColumns(
  { db, tableColumns }: BuildContext,
  relation: string,
): Promise<TableColumns> {
  const columns = await db.table(`select * from ${relation} limit 0`)
  tableColumns.set(relation, columns)
  return columns
}

/** The outcome of a node, in dbt's words. */
export interface Outcome {
  readonly kind: 'model' | 'check' | 'unit_test'
  /** The name of the model, check or unit test. */
  readonly name: string
  readonly status: 'success' | 'error' | 'skipped' | 'pass' | 'fail' | 'warn'
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly durationMs: number
  /** Why it failed or was skipped. */
  readonly message: string | null
  /** The number of wrong rows; null for a model, and if they were not counted. */
  readonly failures: number | null
}

export function reportSkipped(
  { report, now }: BuildContext,
  kind: Outcome['kind'],
  name: string,
  message: string,
): void {
  report({ kind, name, status: 'skipped', startedAt: now(), message })
}

/** Absent: no time, no message and no wrong rows. */
type ReportedOutcome = Pick<Outcome, 'kind' | 'name' | 'status' | 'startedAt'> & Partial<Outcome>

import { warner } from '../lib/world.ts'
import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import type { Config } from '../config/config.ts'
import { ExitCode, UsageError } from '../lib/errors.ts'
import { timed, type RunContext } from './run-context.ts'
import {
  buildAndPublish,
  seedLines,
  type BuildOptions,
  type BuildResult,
  type Project,
  type SparkEngine,
} from '../model/index.ts'
import { writeRecord, type RunRow } from '../model/publish/meta.ts'
import { baseContents } from '../normalize/state.ts'
import { statementsDigestOf } from '../normalize/base-entities.ts'
import { openWarehouse } from '../serve/warehouse.ts'
import { Database, listLiteral } from '../lib/duckdb.ts'
import { collectGarbage } from '../lib/heap.ts'
import { seenByModels, writeIntervals, type IntervalRow } from '../lake/intervals.ts'
import {
  baseGlob,
  foreignBase,
  NO_ORGANISATION,
  pastFolder,
  warehousePath,
} from '../lake/layout.ts'
import { lastPlannedDay, readOrganisations } from '../lake/organisations.ts'
import { quarantineBase } from '../lake/quarantine.ts'
import { forgetRollback } from '../lake/published.ts'
import { fill, statement, version } from '../lib/package.ts'
import { someOf } from '../lib/text.ts'
import { processLimits } from '../lib/machine.ts'
import { spillFolder } from '../lib/spill.ts'
import { intervalsOf, latestData, type PointInTime } from '../lake/point-in-time.ts'

/** The runs up to this one, which ends with `exitCode` if its warehouse is published. */
export type RunsSoFar = (exitCode: ExitCode) => Promise<readonly RunRow[]>

/** Which models to build, from what, and how. */
export interface ModelChoice {
  /** A selector: these models only. */
  readonly select?: string | undefined
  /** A selector: not these models. */
  readonly exclude?: string | undefined
  /** Build only what the last, failed build did not build. */
  readonly retry?: boolean | undefined
  /** Builds what was known at this moment, milliseconds since the epoch. */
  readonly asOf?: number | undefined
  /** Build every model from scratch. */
  readonly fullRefresh?: boolean
  /** Default: as configured. */
  readonly engine?: Config['engine'] | undefined
}

export interface BuildChoice extends ModelChoice {
  readonly runs: RunsSoFar
  /** The exit code of the run if its warehouse is published. Default: complete. */
  readonly exitCode?: ExitCode
}

/** Base → models → checks → published warehouse. @throws the reason of a signal: base may be incomplete. */
export async function buildWarehouse(
  context: RunContext,
  project: Project,
  orgIds: readonly string[],
  choice: BuildChoice,
  pointInTime: PointInTime = latestData(context.config.dataFolder),
): Promise<BuildResult> {
  const { config } = context
  context.world.signal.throwIfAborted()
  const intervals = await writeKnownIntervals(context, orgIds, pointInTime)
  for (const folder of await foreignBase(pointInTime.baseIn, inBase(orgIds))) {
    if (basename(folder) === FORMER_NO_ORGANISATION) {
      await rm(join(pointInTime.baseIn, folder), { recursive: true, force: true })
      continue
    }
    const moved = await quarantineBase(pointInTime.baseIn, folder)
    const warn = warner(context.world, 'damage')
    warn(`${folder} belongs to no organisation in the ledger and was moved to ${moved}`)
  }
  const options = await buildOptions(context, project, orgIds, choice, pointInTime, intervals)
  const meta = async (database: Database): Promise<void> => {
    const runs = await choice.runs(choice.exitCode ?? ExitCode.complete)
    const source = sourceSql(pointInTime.baseIn, 'schema_drift')
    await database.run(fill(statement('meta/schema_drift'), { source }))
    const { runId, world } = context
    const provenance = { runId, builtAt: world.now(), asOf: pointInTime.asOf }
    await writeRecord(database, sourceSql(pointInTime.baseIn, 'intervals'), runs, provenance)
  }
  collectGarbage()
  const result = await timed(context, 'build', () => buildAndPublish({ ...options, meta }))
  await warnOfUnknownMembers(context, project)
  await warnOfLargeCounts(context, result)
  if (pointInTime.asOf === null)
    await rm(pastFolder(config.dataFolder), { recursive: true, force: true })
  await forgetRollback(config.dataFolder)
  return result
}

/** The folder of `NO_ORGANISATION` in data folders of an earlier release; its files have no rows. */
const FORMER_NO_ORGANISATION = 'org=%00'

function inBase(orgIds: readonly string[]): readonly string[] {
  return [NO_ORGANISATION, ...orgIds]
}

/** Writes the base entity `intervals`, and returns the digest of what models read of it. */
async function writeKnownIntervals(
  context: RunContext,
  orgIds: readonly string[],
  pointInTime: PointInTime,
): Promise<string> {
  await using database = await Database.open(':memory:')
  return await digestIntervals(context, orgIds, pointInTime, (rows) =>
    writeIntervals(database, pointInTime.baseIn, rows),
  )
}

/** The digest of what models would read of the base entity `intervals` as it is now. */
export async function digestIntervals(
  { config }: RunContext,
  orgIds: readonly string[],
  pointInTime: PointInTime,
  each: (rows: readonly IntervalRow[]) => Promise<void> = () => Promise.resolve(),
): Promise<string> {
  const known = await readOrganisations(config.dataFolder)
  const digest = createHash('sha256')
  for await (const rows of intervalsOf(pointInTime, orgIds, (id) => lastPlannedDay(known, id))) {
    await each(rows)
    digest.update(seenByModels(rows))
  }
  return digest.digest('hex')
}

/** The options of a build, without what it writes to `meta`. */
export async function buildOptions(
  { config, world, runId }: RunContext,
  project: Project,
  orgIds: readonly string[],
  choice: ModelChoice,
  { baseIn, asOf }: PointInTime,
  intervals: string,
): Promise<BuildOptions> {
  const { dataFolder } = config
  const isSpark = (choice.engine ?? config.engine) === 'spark'
  if (isSpark) refusePart(choice)
  const contents = asOf === null ? await baseContents(dataFolder, inBase(orgIds)) : undefined
  return {
    project,
    target: warehousePath(dataFolder),
    sourceSql: (_source, table) => sourceSql(baseIn, table),
    runId,
    now: world.now,
    emit: world.emit,
    signal: world.signal,
    limits: orgIds.length < FLEET ? processLimits().build : processLimits().buildOfFleet,
    tempDirectory: spillFolder(dataFolder),
    artifacts: {
      folder: join(dataFolder, 'target'),
      builder: `agent-warehouse ${version}`,
    },
    failedFile: {
      path: join(dataFolder, 'state', 'failed', 'warehouse.duckdb'),
      sources: JSON.stringify([asOf, [...(contents ?? [])]]),
    },
    sourceStatements: (_source, table) => statementsDigestOf(table),
    // base of another time is another base, and tables of Spark are found by their paths
    movableFolder: asOf === null && !isSpark ? dataFolder : null,
    sourceContent: (_source, table) =>
      asOf === null && table === 'intervals' ? intervals : (contents?.get(table) ?? null),
    asOf,
    keep: config.keepPublished,
    fullRefresh: choice.fullRefresh === true,
    ...(isSpark ? { spark: sparkEngine(config, baseIn) } : {}),
    retry: choice.retry === true,
    ...(choice.select === undefined ? {} : { select: choice.select }),
    ...(choice.exclude === undefined ? {} : { exclude: choice.exclude }),
  }
}

/** As many organisations have thousands of small files. */
const FLEET = 100

/** @throws UsageError where only some models are asked of Spark. */
function refusePart({ select, exclude, retry }: ModelChoice): void {
  if (select === undefined && exclude === undefined && retry !== true) return
  const asked = retry === true ? '--retry' : select === undefined ? '--exclude' : '--select'
  throw new UsageError(`${asked}: Spark builds all models`, {
    hint: 'Leave it out, or build these models with --engine duckdb.',
  })
}

function sparkEngine({ dataFolder, spark }: Config, baseIn: string): SparkEngine {
  const urlOf = (path: string): string => `${spark.dataUrl}/${relative(dataFolder, path)}`
  return {
    ...spark,
    sourceUrl: (_source, table) => urlOf(baseGlob(baseIn, table)),
    folder: join(dataFolder, 'state', 'spark'),
    urlOf,
  }
}

const LISTED_LINES = 10

/** Warns of lines of `teams.csv` that match no user: names the line, never the user. */
async function warnOfUnknownMembers(context: RunContext, project: Project): Promise<void> {
  const teams = project.seeds.find(({ name }) => name === 'teams')
  if (teams === undefined || teams.csv.place === teams.file) return
  await using database = await openWarehouse(warehousePath(context.config.dataFolder))
  const lines = await seedLines(database, teams, statement('seeds/lines_without_user'))
  if (lines.length === 0) return
  const listed = someOf(lines.map(String), LISTED_LINES)
  const match = lines.length === 1 ? `line ${listed} matches` : `lines ${listed} match`
  warner(context.world)(`${teams.csv.place}: ${match} no user that the platform has served`)
}

/** Names the counts with which sums do not fit, where the build's check found any. */
async function warnOfLargeCounts(context: RunContext, { checks }: BuildResult): Promise<void> {
  const isFound = ({ check, status }: BuildResult['checks'][number]): boolean =>
    check === 'assert_counts_can_be_summed' && status === 'warn'
  if (!checks.some(isFound)) return
  await using database = await openWarehouse(warehousePath(context.config.dataFolder))
  const { rows } = await database.table(statement('meta/large_counts'))
  for (const [message] of rows)
    if (typeof message === 'string') warner(context.world, 'numbers')(message)
}

function sourceSql(dataFolder: string, table: string): string {
  return `read_parquet(${listLiteral([baseGlob(dataFolder, table)])}, hive_partitioning = false)`
}

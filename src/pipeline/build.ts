import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { dayOf } from '../lib/days.ts'
import { Database, listLiteral } from '../lib/duckdb.ts'
import { ExitCode, UsageError } from '../lib/errors.ts'
import { grouped } from '../lib/grouped.ts'
import { collectGarbage } from '../lib/heap.ts'
import { processLimits } from '../lib/machine.ts'
import { fill, statement, version } from '../lib/package.ts'
import { spillFolder } from '../lib/spill.ts'
import { someOf } from '../lib/text.ts'
import { warner } from '../lib/world.ts'
import { seenByModels, writeIntervals } from '../lake/intervals.ts'
import {
  baseGlob,
  foreignBase,
  NO_ORGANISATION,
  pastFolder,
  warehousePath,
  organisationsInLake,
} from '../lake/layout.ts'
import { knownOrganisations } from '../lake/ledger.ts'
import { lastPlannedDay, readOrganisations } from '../lake/organisations.ts'
import { intervalsOf, latestData, type PointInTime, dataAsOf } from '../lake/point-in-time.ts'
import { forgetRollback } from '../lake/published.ts'
import { quarantineBase } from '../lake/quarantine.ts'
import type { Config } from '../config/config.ts'
import { rebuildLedger } from '../extract/open-ledger.ts'
import {
  buildAndPublish,
  type BuildResult,
  planOfBuild,
  type PlannedModel,
} from '../model/build/build.ts'
import { seedLines } from '../model/project/seeds.ts'
import type { Project } from '../model/project/types.ts'
import type { BuildOptions, SparkEngine } from '../model/shared/context.ts'
import { writeRecord, type RunRow } from '../model/shared/meta.ts'
import { statementsDigestOf } from '../normalize/base-entities.ts'
import { BaseEngine } from '../normalize/batch.ts'
import { baseContents } from '../normalize/state.ts'
import { refusePast, rollBack } from '../serve/rollback.ts'
import { openWarehouse } from '../serve/warehouse.ts'
import {
  timed,
  type RunContext,
  downgradeToPartial,
  type StageResult,
  reconcileLedgers,
  hasLanded,
  union,
  readProject,
} from './run-context.ts'
import { landHooks, normalizeAll } from './sync.ts'

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

interface BuildChoice extends ModelChoice {
  readonly runs: RunsSoFar
  /** The exit code of the run if its warehouse is published. Default: complete. */
  readonly exitCode?: ExitCode
}

const COMPLETE: StageResult = { exitCode: ExitCode.complete, problems: [] }

/** Raw → base → models → published warehouse. Needs no network. */
export async function build(context: RunContext, choice: BuildChoice): Promise<StageResult> {
  const { dataFolder } = context.config
  const { asOf } = choice
  await refuseSelectionOnPast(dataFolder, choice)
  refuseFuture(asOf, context.world.now())
  const missing = await reconcileLedgers(context)
  // a retry continues what was built from the sources as they were
  if (asOf === undefined && choice.retry !== true) await landHooks(context)
  const orgIds = requireOrganisations(context, await knownOrganisations(dataFolder))
  if (asOf === undefined) return normalizeAndBuild(context, orgIds, choice, missing)
  const past = await dataAsOf(dataFolder, orgIds, asOf)
  await rm(past.baseIn, { recursive: true, force: true })
  return normalizeAndBuild(context, orgIds, choice, missing, past)
}

/**
 * @throws UsageError if only some models are selected after a rollback or a build with `--as-of`.
 */
async function refuseSelectionOnPast(dataFolder: string, choice: ModelChoice): Promise<void> {
  if (choice.select !== undefined) await refusePast(dataFolder, '--select')
  if (choice.exclude !== undefined) await refusePast(dataFolder, '--exclude')
}

/** The end of today is the latest data, not the future. @throws UsageError for a later time. */
function refuseFuture(asOf: number | undefined, now: number): void {
  if (asOf === undefined || dayOf(asOf) <= dayOf(now)) return
  throw new UsageError(`--as-of: ${new Date(asOf).toISOString()} is in the future`, {
    hint: 'A build without --as-of uses the latest data.',
  })
}

/**
 * `missingBefore`: how many days were missing before base is written.
 *
 * @throws UsageError if no day has ever landed.
 */
async function normalizeAndBuild(
  context: RunContext,
  orgIds: readonly string[],
  choice: BuildChoice,
  missingBefore: number,
  pointInTime = latestData(context.config.dataFolder),
): Promise<StageResult> {
  const { missing, project } = await normalizeAndRead(context, pointInTime)
  const allMissing = missingBefore + missing
  const outcome = downgradeToPartial(allMissing, COMPLETE)
  if (await hasLanded(pointInTime, orgIds)) {
    const { exitCode } = outcome
    await buildWarehouse(context, project, orgIds, { ...choice, exitCode }, pointInTime)
    if (pointInTime.asOf !== null) warnOfPast(context, pointInTime.asOf)
  } else if (allMissing === 0) throw nothingToBuild(context)
  return outcome
}

function warnOfPast({ world }: RunContext, asOf: number): void {
  const when = new Date(asOf).toISOString()
  warner(world)(
    `the warehouse is published as it was known at ${when}; the next build without --as-of returns to the latest data`,
  )
}

/**
 * Makes base and reads the project concurrently: one uses DuckDB, the other this thread. `missing`:
 * how many days are missing because of damaged files.
 */
export async function normalizeAndRead(
  context: RunContext,
  pointInTime: PointInTime,
): Promise<{ missing: number; project: Project }> {
  const reading = readProject(context)
  await using engine = new BaseEngine(context.config.dataFolder)
  const missing = await normalizeAll(context, pointInTime, engine)
  return { missing, project: await reading }
}

/** @throws UsageError if there is no organisation. */
function requireOrganisations(context: RunContext, orgIds: readonly string[]): readonly string[] {
  if (orgIds.length > 0) return orgIds
  throw nothingToBuild(context)
}

function nothingToBuild({ config: { dataFolder } }: RunContext): UsageError {
  return new UsageError(`there is nothing to build: no day has landed in ${dataFolder}`, {
    hint: 'Load data first: agent-warehouse run (or: agent-warehouse demo).',
  })
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
  const intervals = await digestIntervals(context, orgIds, pointInTime, true)
  await quarantineForeignBase(context, orgIds, pointInTime)
  const options = await optionsOfBuild(context, project, orgIds, choice, pointInTime, intervals)
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

/** The digest of what models read of the base entity `intervals` as it is now; also writes it. */
async function digestIntervals(
  { config }: RunContext,
  orgIds: readonly string[],
  pointInTime: PointInTime,
  isWritten: boolean,
): Promise<string> {
  await using database = isWritten ? await Database.open(':memory:') : undefined
  const known = await readOrganisations(config.dataFolder)
  const digest = createHash('sha256')
  for await (const rows of intervalsOf(pointInTime, orgIds, (id) => lastPlannedDay(known, id))) {
    if (database !== undefined) await writeIntervals(database, pointInTime.baseIn, rows)
    digest.update(seenByModels(rows))
  }
  return digest.digest('hex')
}

/** Base of organisations that no ledger names would be read by the models: it leaves `lake/base`. */
async function quarantineForeignBase(
  { world }: RunContext,
  orgIds: readonly string[],
  { baseIn }: PointInTime,
): Promise<void> {
  const warn = warner(world, 'damage')
  for (const [name, folders] of grouped(await foreignBase(baseIn, inBase(orgIds)), basename)) {
    for (const folder of folders) await quarantineBase(baseIn, folder)
    const to = join('quarantine', 'base')
    warn(`lake/base/*/${name} belongs to no organisation in the ledger and was moved to ${to}`)
  }
}

function inBase(orgIds: readonly string[]): readonly string[] {
  return [NO_ORGANISATION, ...orgIds]
}

/** The options of a build, without what it writes to `meta`. */
async function optionsOfBuild(
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
      sources: JSON.stringify([asOf, [...(contents ?? [])], intervals]),
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
  const option = retry === true ? '--retry' : select === undefined ? '--exclude' : '--select'
  throw new UsageError(`${option}: Spark builds all models`, {
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

/**
 * Plans what `build` would do with each model, with base as it is. Writes nothing, and needs no
 * lock.
 */
export async function planOfModels(
  context: RunContext,
  choice: ModelChoice,
): Promise<readonly PlannedModel[]> {
  const { dataFolder } = context.config
  const orgIds = requireOrganisations(context, await knownOrganisations(dataFolder))
  await refuseSelectionOnPast(dataFolder, choice)
  const project = await readProject(context)
  const latest = latestData(dataFolder)
  const intervals = await digestIntervals(context, orgIds, latest, false)
  return planOfBuild(await optionsOfBuild(context, project, orgIds, choice, latest, intervals))
}

/** Raw → ledger, base, models → published warehouse, all from scratch. Needs no network. */
export async function rebuild(context: RunContext, choice: BuildChoice): Promise<StageResult> {
  const { dataFolder } = context.config
  const inLake = await organisationsInLake(dataFolder)
  const orgIds = requireOrganisations(context, union(inLake, await knownOrganisations(dataFolder)))
  let missing = 0
  await timed(context, 'ledger', async () => {
    for (const orgId of orgIds)
      missing += await rebuildLedger(dataFolder, orgId, warner(context.world, 'damage'))
  })
  for (const made of [join('lake', 'base'), join('state', 'base')])
    await rm(join(dataFolder, made), { recursive: true, force: true })
  return normalizeAndBuild(context, orgIds, { ...choice, fullRefresh: true }, missing)
}

/** Publishes an earlier file again: that of the run `to`, or the previous one. */
export async function rollback(context: RunContext, to: string | undefined): Promise<StageResult> {
  const { config, world, runId } = context
  const done = await rollBack({ dataFolder: config.dataFolder, runId, now: world.now, to })
  world.emit({ type: 'warehouse.rolled_back', from: done.from, to: done.to })
  warner(world)('the next build returns to the latest data; exports are unchanged')
  return COMPLETE
}

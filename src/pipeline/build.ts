import { warner } from '../lib/world.ts'
import { rm } from 'node:fs/promises'
import { landHooks } from './sync.ts'
import { dayOf } from '../lib/days.ts'
import { ExitCode, UsageError } from '../lib/errors.ts'
import {
  downgradeToPartial,
  type StageResult,
  type RunContext,
  reconcileLedgers,
  hasLanded,
  timed,
  union,
  readProject,
} from './run-context.ts'
import { planOfBuild, type PlannedModel } from '../model/index.ts'
import { normalizeAndRead, type BaseAndProject } from './normalize.ts'
import {
  buildOptions,
  buildWarehouse,
  digestIntervals,
  type BuildChoice,
  type ModelChoice,
} from './warehouse.ts'
import { refusePast, rollBack } from '../serve/rollback.ts'
import { knownOrganisations } from '../lake/ledger.ts'
import { dataAsOf, latestData } from '../lake/point-in-time.ts'
import { join } from 'node:path'
import { rebuildLedger } from '../extract/open-ledger.ts'
import { organisationsInLake } from '../lake/layout.ts'

/** Raw → base → models → published warehouse. Needs no network. */
export async function build(context: RunContext, options: BuildChoice): Promise<StageResult> {
  const { dataFolder } = context.config
  await refuseSelectionOnPast(dataFolder, options)
  refuseFuture(options.asOf, context.world.now())
  await reconcileLedgers(context)
  if (options.asOf === undefined) await landHooks(context)
  const orgIds = requireOrganisations(context, await knownOrganisations(dataFolder))
  if (options.asOf !== undefined) return buildPast(context, orgIds, options, options.asOf)
  return buildIfLanded(context, orgIds, options, await normalizeAndRead(context))
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
  const [project, now] = [await readProject(context), latestData(dataFolder)]
  const intervals = await digestIntervals(context, orgIds, now)
  return planOfBuild(await buildOptions(context, project, orgIds, choice, now, intervals))
}

/** @throws UsageError if only some models are selected after a rollback or a build of the past. */
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

async function buildPast(
  context: RunContext,
  orgIds: readonly string[],
  options: BuildChoice,
  asOf: number,
): Promise<StageResult> {
  const pointInTime = await dataAsOf(context.config.dataFolder, orgIds, asOf)
  await rm(pointInTime.baseIn, { recursive: true, force: true })
  const { project } = await normalizeAndRead(context, pointInTime)
  await buildWarehouse(context, project, orgIds, options, pointInTime)
  const when = new Date(asOf).toISOString()
  warner(context.world)(
    `the warehouse is published as it was known at ${when}; the next build without --as-of returns to the latest data`,
  )
  return { exitCode: ExitCode.complete, problems: [] }
}

async function buildIfLanded(
  context: RunContext,
  orgIds: readonly string[],
  options: BuildChoice,
  { missing, project }: BaseAndProject,
): Promise<StageResult> {
  const outcome = downgradeToPartial(missing, { exitCode: ExitCode.complete, problems: [] })
  if (!(await hasLanded(context.config.dataFolder, orgIds))) {
    if (missing > 0) return outcome
    throw nothingToBuild(context)
  }
  await buildWarehouse(context, project, orgIds, { ...options, exitCode: outcome.exitCode })
  return outcome
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

/** Publishes an earlier file again: that of the run `to`, or the previous one. */
export async function rollback(context: RunContext, to: string | undefined): Promise<StageResult> {
  const { config, world, runId } = context
  const done = await rollBack({ dataFolder: config.dataFolder, runId, now: world.now, to })
  world.emit({ type: 'warehouse.rolled_back', from: done.from, to: done.to })
  warner(world)('the next build returns to the latest data; exports are unchanged')
  return { exitCode: ExitCode.complete, problems: [] }
}

/** Raw → ledger, base, models → published warehouse, all from scratch. Needs no network. */
export async function rebuild(context: RunContext, options: BuildChoice): Promise<StageResult> {
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
  const ready = await normalizeAndRead(context)
  const all = { ...ready, missing: missing + ready.missing }
  return buildIfLanded(context, orgIds, { ...options, fullRefresh: true }, all)
}

import { rm } from 'node:fs/promises'
import { landHooks } from './entity-resources.ts'
import { ExitCode, UsageError } from '../lib/errors.ts'
import {
  downgradeToPartial,
  type StageResult,
  type RunContext,
  openLedgers,
  hasLanded,
} from './run-context.ts'
import { planOfBuild, type PlannedModel } from '../model/index.ts'
import { normalizeAndRead, type BaseAndProject } from './normalize.ts'
import {
  buildOptions,
  publishModels,
  readProject,
  type BuildChoice,
  type ModelChoice,
} from './publish.ts'
import { refusePast } from '../serve/rollback.ts'
import { knownOrganisations } from '../lake/ledger.ts'
import { dataAsOf, latestData } from './point-in-time.ts'

/** Raw → base → models → published warehouse. Needs no network. */
export async function build(context: RunContext, options: BuildChoice): Promise<StageResult> {
  const { dataFolder } = context.config
  await openLedgers(context)
  if (options.asOf === undefined) await landHooks(context)
  const orgIds = requireOrganisations(context, await knownOrganisations(dataFolder))
  if (options.select !== undefined) await refusePast(dataFolder, '--select')
  if (options.exclude !== undefined) await refusePast(dataFolder, '--exclude')
  if (options.asOf !== undefined) return buildPast(context, orgIds, options, options.asOf)
  return publishIfLanded(context, orgIds, options, await normalizeAndRead(context))
}

/** What `build` would do with each model, of base as it is. Writes nothing, and needs no lock. */
export async function planOfModels(
  context: RunContext,
  choice: ModelChoice,
): Promise<readonly PlannedModel[]> {
  const { dataFolder } = context.config
  const orgIds = requireOrganisations(context, await knownOrganisations(dataFolder))
  const project = await readProject(context)
  return planOfBuild(await buildOptions(context, project, orgIds, choice, latestData(dataFolder)))
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
  await publishModels(context, project, orgIds, options, pointInTime)
  const when = new Date(asOf).toISOString()
  context.world.emit({
    type: 'warning',
    message: `the warehouse is published as it was known at ${when}; the next build without --as-of returns to the latest data`,
  })
  return { exitCode: ExitCode.complete, problems: [] }
}

export async function publishIfLanded(
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
  await publishModels(context, project, orgIds, { ...options, exitCode: outcome.exitCode })
  return outcome
}

/** @throws UsageError when there is no organisation. */
export function requireOrganisations(
  context: RunContext,
  orgIds: readonly string[],
): readonly string[] {
  if (orgIds.length > 0) return orgIds
  throw nothingToBuild(context)
}

function nothingToBuild({ config: { dataFolder } }: RunContext): UsageError {
  return new UsageError(`there is nothing to build: no day has landed in ${dataFolder}`, {
    hint: 'Load data first: agent-warehouse run (or: agent-warehouse demo).',
  })
}

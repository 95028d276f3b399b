import { Prefetch } from './prefetch.ts'
import type { SyncSelection } from './entity-resources.ts'
import { downgradeToPartial, type RunContext, hasLanded } from './run-context.ts'
import { normalizeAll } from './normalize.ts'
import { exportMarts, publishModels, type RunsSoFar } from './publish.ts'
import { knownOrganisations } from '../lake/ledger.ts'
import { latestData } from './point-in-time.ts'
import { reportMarts } from './report.ts'
import type { SyncOutcome } from './outcome.ts'
import { land, isStopped } from './sync.ts'

/** The nightly job: land what is due, build, check, publish, export, report. */
export async function run(
  context: RunContext,
  selection: SyncSelection,
  runs: RunsSoFar,
): Promise<SyncOutcome> {
  const prefetch = new Prefetch(context)
  const outcome = await landAndNormalize(context, selection, prefetch).finally(() => prefetch.end())
  if (!outcome.isAnyReached || isStopped(context)) return outcome
  const orgIds = await knownOrganisations(context.config.dataFolder)
  if (!(await hasLanded(context.config.dataFolder, orgIds))) return outcome
  const project = await prefetch.project()
  await publishModels(context, project, orgIds, { runs, exitCode: outcome.exitCode })
  for (const target of context.config.exports) await exportMarts(context, target)
  for (const format of context.config.report.formats) await reportMarts(context, format)
  return outcome
}

async function landAndNormalize(
  context: RunContext,
  selection: SyncSelection,
  prefetch: Prefetch,
): Promise<SyncOutcome> {
  const landed = await land(context, selection, prefetch)
  if (!landed.isAnyReached || isStopped(context)) return landed
  const pointInTime = latestData(context.config.dataFolder)
  return downgradeToPartial(await normalizeAll(context, pointInTime, prefetch), landed)
}

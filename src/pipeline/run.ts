import { type RunContext, hasLanded, readProject } from './run-context.ts'
import { buildWarehouse, type RunsSoFar } from './build.ts'
import { knownOrganisations } from '../lake/ledger.ts'
import { latestData } from '../lake/point-in-time.ts'
import type { Project } from '../model/project/types.ts'
import { exportMarts, reportMarts } from './serve.ts'
import type { SyncOutcome } from './outcome.ts'
import { deferredIfStopped, landAndNormalize, type SyncSelection } from './sync.ts'

/** The nightly job: land what is due, build, check, publish, export, report. */
export async function run(
  context: RunContext,
  selection: SyncSelection,
  runs: RunsSoFar,
): Promise<SyncOutcome> {
  let reading: Promise<Project> | undefined // begun while the platform answers
  const outcome = await landAndNormalize(context, selection, () => {
    reading ??= readProject(context)
  })
  const { config, world } = context
  if (!outcome.hasNews || world.signal.aborted) return deferredIfStopped(context, outcome)
  const orgIds = await knownOrganisations(config.dataFolder)
  if (!(await hasLanded(latestData(config.dataFolder), orgIds))) return outcome
  const project = await (reading ?? readProject(context))
  await buildWarehouse(context, project, orgIds, { runs, exitCode: outcome.exitCode })
  for (const target of config.exports) await exportMarts(context, target)
  for (const format of config.report.formats) await reportMarts(context, format)
  return outcome
}

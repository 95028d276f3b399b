import type { OrganisationConfig } from '../config/config.ts'
import { BESIDE } from '../lib/resource-names.ts'
import type { BesideSelection } from '../extract/entities/context.ts'
import { landSpool } from '../extract/entities/hook-spool.ts'
import type { PlanOptions } from '../extract/plan/plan.ts'
import type { Job } from './run-context.ts'

/** What of the platform to ask for: of analytics, and beside them. */
export interface SyncSelection extends Pick<
  PlanOptions,
  'resources' | 'within' | 'days' | 'refetch'
> {
  /** Named resources; without any, all are asked for, unless days are named, which are of analytics. */
  readonly beside?: Partial<Pick<BesideSelection, 'resources' | 'sessions' | 'messages'>>
}

/** What to ask one organisation for beside analytics. Readiness reports are on the application host. */
export function besideOf(
  job: Pick<Job, 'config'>,
  { appUrl }: Pick<OrganisationConfig, 'appUrl'>,
  selection: SyncSelection,
): BesideSelection {
  const { beside = {}, within, days, refetch = false } = selection
  const isOfDays = days !== undefined || within?.first !== undefined || within?.last !== undefined
  const resources = beside.resources ?? (isOfDays ? [] : BESIDE)
  return {
    resources: resources.filter((name) => name !== 'readiness_reports' || appUrl !== null),
    sessions: beside.sessions ?? [],
    messages: beside.messages ?? [],
    refetch,
    hooksOf: hooksOf(job),
    redactionKey: job.config.redactionKey,
  }
}

/** Lands the hook events that no organisation's sync has landed. */
export async function landHooks(job: Job): Promise<void> {
  const { config, world, runId } = job
  const { dataFolder, redactionKey } = config
  await landSpool({ dataFolder, runId, world, hooksOf: hooksOf(job), redactionKey })
}

/** With several organisations, theirs is told by the configuration alone. */
function hooksOf({ config }: Pick<Job, 'config'>): string | null {
  return config.hooks.organisation ?? (config.hosts().length > 1 ? 'default' : null)
}

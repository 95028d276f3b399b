import type { OrganisationConfig } from '../config/config.ts'
import { ENTITY_RESOURCES } from '../lake/resources.ts'
import type { EntitySelection } from '../extract/entities/context.ts'
import { landSpool } from '../extract/entities/hooks.ts'
import type { PlanOptions } from '../extract/plan/plan.ts'
import type { RunContext } from './run-context.ts'

/** What to ask the platform for: analytics and entity resources. */
export interface SyncSelection extends Pick<
  PlanOptions,
  'resources' | 'within' | 'days' | 'refetch'
> {
  /** Named resources; without any, all are asked for, unless days are named, which are of analytics. */
  readonly entities?: Partial<Pick<EntitySelection, 'resources' | 'sessions' | 'messages'>>
  /** Names of the organisations to ask; absent: all of the configuration. */
  readonly organisations?: readonly string[] | undefined
}

/** The entity resources to ask one organisation for. Readiness reports are on the application host. */
export function entitySelection(
  context: Pick<RunContext, 'config'>,
  { appUrl }: Pick<OrganisationConfig, 'appUrl'>,
  selection: SyncSelection,
): EntitySelection {
  const { entities = {}, within, days, refetch = false } = selection
  const isOfDays = days !== undefined || within?.first !== undefined || within?.last !== undefined
  const resources = entities.resources ?? (isOfDays ? [] : ENTITY_RESOURCES)
  return {
    resources: resources.filter((name) => name !== 'readiness_reports' || appUrl !== null),
    sessions: entities.sessions ?? [],
    messages: entities.messages ?? [],
    refetch,
    organisationOfHookEvents: organisationOfHookEvents(context),
    redactionKey: context.config.redactionKey,
  }
}

/** Lands the hook events that no organisation's sync has landed. */
export async function landHooks(context: RunContext): Promise<void> {
  const { config, world, runId } = context
  const { dataFolder, redactionKey } = config
  await landSpool({
    dataFolder,
    runId,
    world,
    organisationOfHookEvents: organisationOfHookEvents(context),
    redactionKey,
  })
}

/** With several organisations, only the configuration says whose they are. */
function organisationOfHookEvents({ config }: Pick<RunContext, 'config'>): string | null {
  return config.hooks.organisation ?? (config.hosts().length > 1 ? 'default' : null)
}
